#!/bin/sh
# Makes folders with the QEMU of other Debian releases, each once: DIR/ROOT.
#
#   roots.sh DIR ROOT...
#
# A root is `backports` (Debian 12's backports), `trixie` or `sid`. It holds that release's QEMU and
# what it needs, unpacked and not configured: nothing is installed, and it takes seconds.
# DIR/ROOT/qemu runs it. Remove a root to have it made of newer packages.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

die() {
	printf 'roots.sh: %s\n' "$*" >&2
	exit 1
}

# unpack NAME SUITE [OVERLAY]: what OVERLAY has is preferred. Signatures are checked; dates are not,
# since the lists of a mirror that stands still would be refused.
unpack() {
	name=$1 suite=$2 overlay=${3:-}
	set -- "deb $mirror $suite main"
	[ -z "$overlay" ] || set -- "$@" "deb $mirror $overlay main"
	mmdebstrap --quiet --variant=extract --include=qemu-system-x86 \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt="APT::Default-Release \"${overlay:-$suite}\"" \
		"$suite" "$dir/.new-$name" "$@" || die "no root $name: mmdebstrap failed"
}

# The root's own loader, libraries, modules and firmware; exec, so that signals reach QEMU.
write_wrapper() {
	cat >"$1/qemu" <<-'END'
		#!/bin/sh
		# Runs this root's QEMU, with the root's own loader, libraries, modules and
		# firmware.
		root=$(dirname "$(readlink -f "$0")")
		libraries=$root/usr/lib/x86_64-linux-gnu
		loader=$libraries/ld-linux-x86-64.so.2
		[ -e "$loader" ] || loader=$root/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
		export QEMU_MODULE_DIR="$libraries/qemu"
		exec "$loader" --library-path "$libraries:$root/lib/x86_64-linux-gnu" \
			"$root/usr/bin/qemu-system-x86_64" \
			-L "$root/usr/share/qemu" -L "$root/usr/share/seabios" "$@"
	END
	chmod +x "$1/qemu"
}

# make_root NAME SUITE [OVERLAY]: whole or not at all.
make_root() {
	[ ! -x "$dir/$1/qemu" ] || return 0
	printf 'making root %s\n' "$1" >&2
	rm -rf "${dir:?}/$1" "$dir/.new-$1"
	unpack "$@"
	write_wrapper "$dir/.new-$1"
	"$dir/.new-$1/qemu" --version >/dev/null || die "the QEMU of root $1 does not run"
	mv "$dir/.new-$1" "$dir/$1"
}

[ $# -ge 2 ] || die "usage: roots.sh DIR ROOT..."
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
mirror=$("$here/mirror.sh")

# Two runs may share DIR: the second waits.
exec 9>"$dir/.lock"
flock 9
for root in "$@"; do
	case $root in
	backports) make_root backports bookworm bookworm-backports ;;
	trixie | sid) make_root "$root" "$root" ;;
	*) die "no root $root; there are: backports trixie sid" ;;
	esac
done
