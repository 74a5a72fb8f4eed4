# Read by build.sh: the kernels of the table of power, and the check of what was built.
# shellcheck shell=sh disable=SC2154

# The names of those that have instructions more; the others move code or data.
changes='(fork|tcp-send|mmap|timer|softirq)-[0-9]+'

# Each layout alone, each together with one instruction more in a fork, and each change alone.
all_variants() {
	names=$(for file in "$configs"/*.config; do basename "$file" .config; done)
	layouts=$(printf '%s\n' "$names" | grep -Evx "$changes")
	printf '%s\n' "$layouts"
	printf '%s\n' "$layouts" | sed 's/^/fork-1+/'
	printf '%s\n' "$names" | grep -Ex "$changes"
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

# functions_of VMLINUX LIST: its symbols in LIST.symbols, and its functions in LIST.functions.
functions_of() {
	nm -S "$1" | LC_ALL=C sort >"$2.symbols"
	objdump -d --no-show-raw-insn "$1" |
		awk -v what=functions -f "$more/check.awk" "$2.symbols" - |
		LC_ALL=C sort >"$2.functions"
}

# check_built VARIANT: its functions are those of base, instruction for instruction, but for what
# expected_of says. OUTDIR/VARIANT.checked has a line on what moved.
check_built() {
	[ "$1" != base ] || return 0
	[ -n "$(find "$out/base.functions" -newer "$more/check.awk" -newer "$base/vmlinux" \
		2>/dev/null)" ] || functions_of "$base/vmlinux" "$out/base"
	functions_of "$objects/vmlinux" "$objects/variant"
	LC_ALL=C comm -3 "$out/base.functions" "$objects/variant.functions" |
		awk -v what=changes -f "$more/check.awk" >"$objects/changes" ||
		die "$1: $(cat "$objects/changes")"
	found=$(xargs <"$objects/changes")
	expected=$(expected_of "$1" | xargs)
	[ "$found" = "$expected" ] || die "$1 should have more: '$expected'; it has: '$found'"
	moved=$(LC_ALL=C comm -13 "$out/base.symbols" "$objects/variant.symbols" | wc -l)
	printf '%s of %s symbols moved; %s\n' "$moved" "$(wc -l <"$objects/variant.symbols")" \
		"${found:-no instruction more}" >"$out/$1.checked"
}
