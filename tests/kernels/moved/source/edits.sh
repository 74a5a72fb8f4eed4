# Read by build.sh: code and data of all kernels lie elsewhere than without this folder.
# shellcheck shell=sh disable=SC2154

# power/ has the places where nothing is executed or read; here all of them have some bytes.
add_more() {
	edits=$here/power/source
	# In a shell of its own, since that file defines an add_more too.
	# shellcheck source=/dev/null
	(. "$edits/edits.sh" && add_more) || exit
	edits=$more/source
	edit Kconfig.power Kconfig-power.sed
}
