# Read by build.sh: the kernels of the table of power, and the check of what was built.
# shellcheck shell=sh disable=SC2154

# layouts: those that move code or data, and change no instruction.
layouts() {
	for file in "$configs"/*.config; do
		basename "$file" .config
	done | grep -Ev '^(fork|tcp-send|mmap|timer|softirq)-[0-9]+$'
}

# Each layout alone, and together with one instruction more in a fork.
all_variants() {
	echo fork-1
	layouts
	layouts | sed 's/^/fork-1+/'
	for file in "$configs"/*-[1-9].config; do
		basename "$file" .config
	done | grep -Ex '(fork|tcp-send|mmap|timer|softirq)-[1-9]' | grep -vx fork-1
}

# expected_of VARIANT: function and number of instructions more, of each of its parts.
expected_of() {
	parts_of "$1" | while read -r part; do
		case $part in
		fork-*) echo "kernel_clone ${part##*-}" ;;
		tcp-send-*) echo "tcp_sendmsg ${part##*-}" ;;
		mmap-*) echo "do_mmap ${part##*-}" ;;
		timer-*) echo "run_timer_softirq ${part##*-}" ;;
		softirq-*) echo "handle_softirqs ${part##*-}" ;;
		esac
	done
}

# check_built VARIANT: its functions are those of base, instruction for instruction, but for what
# expected_of says. It leaves OUTDIR/base.functions, and a line for each kernel on what moved.
check_built() {
	check=$more/check.awk
	nm -S "$objects/vmlinux" | sort >"$objects/symbols"
	objdump -d --no-show-raw-insn "$objects/vmlinux" |
		awk -v what=functions -f "$check" "$objects/symbols" - |
		LC_ALL=C sort >"$objects/functions"
	if [ "$1" = base ]; then
		cp "$objects/functions" "$out/base.functions"
		cp "$objects/symbols" "$out/base.symbols"
		return
	fi
	LC_ALL=C comm -3 "$out/base.functions" "$objects/functions" |
		awk -v what=changes -f "$check" >"$objects/changes" ||
		die "$1: $(cat "$objects/changes")"
	found=$(xargs <"$objects/changes")
	expected=$(expected_of "$1" | xargs)
	[ "$found" = "$expected" ] || die "$1 should have more: '$expected'; it has: '$found'"
	moved=$(LC_ALL=C comm -13 "$out/base.symbols" "$objects/symbols" | wc -l)
	printf '%s of %s symbols moved; %s\n' "$moved" "$(wc -l <"$objects/symbols")" \
		"${found:-no instruction more}" >"$out/$1.checked"
}
