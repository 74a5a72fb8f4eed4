#!/usr/bin/env bash
# Takes the measurements of docs/evidence/performance.md and prints them as a table in Markdown.
#
#   run.sh PATHMETER BASE NEW
#
# BASE and NEW are kernel images. Everything happens in a temporary folder with a cache of its own;
# progress goes to stderr. Takes about five minutes. A wall time is the median of ROUNDS rounds, in
# each of which everything is timed once. It is printed as a multiple of R: a raw exact boot, in the
# same rounds, of the slower kernel's unpacked vmlinux to its /init.
set -euo pipefail
shopt -s inherit_errexit

readonly ROUNDS=5        # of everything that is timed; odd
readonly REPEATS=20      # of one kernel's measurement; the second half under load

die() {
	printf 'run.sh: %s\n' "$*" >&2
	exit 1
}

[ $# = 3 ] || die "usage: run.sh PATHMETER BASE NEW"
pathmeter=$(realpath "$1") base=$(realpath "$2") new=$(realpath "$3")
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
load=()

end_load() {
	[ ${#load[@]} = 0 ] || kill "${load[@]}" 2>/dev/null || true
	load=()
}

trap 'end_load; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# One busy loop a processor; each ends with this script, however that ends.
begin_load() {
	for _ in $(seq "$(nproc)"); do
		while kill -0 $$; do for ((i = 0; i < 100000; i++)); do :; done; done 2>/dev/null &
		load+=($!)
	done
}

compare() {
	"$pathmeter" compare --quiet "$@" "$base" "$new" >"$work/table"
}

measure() {
	"$pathmeter" measure --quiet --no-cache "$1" -o "$2" >/dev/null
}

# timed NAME COMMAND...: notes the wall time, in microseconds.
timed() {
	local name=$1 begun
	shift
	begun=${EPOCHREALTIME/./}
	"$@"
	printf '%d\n' $((${EPOCHREALTIME/./} - begun)) >>"$work/times.$name"
}

# median NAME: in microseconds.
median() {
	sort -n "$work/times.$1" | sed -n "$(((ROUNDS + 1) / 2))p"
}

# ratio NAME: the median as a multiple of R, and in seconds.
ratio() {
	awk -v time="$(median "$1")" -v r="$R" \
		'BEGIN { printf "%.2f R (%.2f s)", time / r, time / 1e6 }'
}

# field NAME: a text of the configuration that BASE was measured with.
field() {
	grep -oE "\"$1\":\"[^\"]*\"" "$work/base.json" | head -n 1 | cut -d '"' -f 4
}

# number FILE OFFSET BYTES: a little-endian number in a kernel's boot header.
number() {
	od -An "-tu$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# unpack PACKAGE FILE: the vmlinux in the kernel of a Debian package, found by the boot header
# (Linux Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length).
unpack() {
	local kernel from length tool
	mkdir "$work/package"
	dpkg-deb --fsys-tarfile "$1" | tar -x -C "$work/package" --wildcards './boot/vmlinuz-*'
	kernel=$(echo "$work"/package/boot/vmlinuz-*)
	from=$((($(number "$kernel" 497 1) + 1) * 512 + $(number "$kernel" 584 4)))
	# The last four bytes of the payload are the unpacked size.
	length=$(($(number "$kernel" 588 4) - 4))
	tail -c +$((from + 1)) "$kernel" | head -c "$length" >"$work/payload" || true
	case $(od -An -tx1 -N 4 "$work/payload") in
	' 02 21 4c 18') tool=lz4 ;;
	' fd 37 7a 58') tool=xz ;;
	' 28 b5 2f fd') tool=zstd ;;
	*) die "the kernel of $1 is packed with neither lz4, xz nor zstd" ;;
	esac
	"$tool" -dc <"$work/payload" >"$2" || die "the kernel of $1 can't be unpacked"
	rm -rf "$work/package" "$work/payload"
}

# An initramfs whose /init ends at once; the kernel panics then, and QEMU ends.
make_initramfs() {
	mkdir "$work/root"
	# shellcheck disable=SC2016 # The dollar is the assembler's.
	printf '.globl _start\n_start: mov $60, %%eax\nxor %%edi, %%edi\nsyscall\n' |
		cc -x assembler -nostdlib -static -o "$work/root/init" -
	(cd "$work/root" && echo init | cpio --quiet -o -H newc >"$work/initramfs")
}

# boot VMLINUX: a raw exact boot to /init, with the machine and the words that pathmeter uses.
boot() {
	local cpu
	# A profile's name stands before what QEMU is told.
	cpu=$(field cpu)
	qemu-system-x86_64 -M "$(field machine)" -cpu "${cpu#*: }" -m 128 \
		-accel tcg -icount shift=0,sleep=off -rtc base=2020-01-01T00:00:00,clock=vm \
		-seed 1 -no-user-config -nodefaults -display none -no-reboot \
		-serial "file:$work/console" -kernel "$1" -initrd "$work/initramfs" \
		-append "$(field command_line)"
	grep -q 'Attempted to kill init' "$work/console" || die "$1 did not come to /init"
}

# The groups of paths that a narrow question needs.
compare_calls() {
	compare --only 'syscall.*'
}

explain() {
	"$pathmeter" explain --quiet switch.yield "$base" >/dev/null
}

# One of each, so that what else the machine does meets all alike.
round() {
	timed raw-base boot "$work/base.vmlinux"
	timed raw-new boot "$work/new.vmlinux"
	rm -rf "$XDG_CACHE_HOME"
	timed only-nothing compare_calls
	rm -f "$XDG_CACHE_HOME"/pathmeter/*.result
	timed only-snapshots compare_calls
	rm -rf "$XDG_CACHE_HOME"
	timed nothing compare
	rm -f "$XDG_CACHE_HOME"/pathmeter/*.result
	timed snapshots compare
	timed results compare
	# Symbols are cached from here on.
	compare --explain
	explain
	timed explain explain
	rm -f "$XDG_CACHE_HOME"/pathmeter/*.result
	timed compare-explain compare --explain
}

# How many different documents REPEATS measurements of BASE gave; they hold every sample.
different_results() {
	local run
	for run in $(seq $REPEATS); do
		[ "$run" != $((REPEATS / 2 + 1)) ] || begin_load
		measure "$base" "$work/$run.json"
		printf 'repeated: run %d\n' "$run" >&2
		sha256sum <"$work/$run.json" >>"$work/hashes"
	done
	end_load
	sort -u "$work/hashes" | wc -l
}

# Paths of KERNEL that two measurements of it differ in, in the judgement of a comparison.
differences() {
	measure "$1" "$work/a.json"
	measure "$1" "$work/b.json"
	"$pathmeter" compare --json "$work/a.json" "$work/b.json" >"$work/comparison.json"
	verdicts='higher|lower|mode-appeared|longer-tail|shorter-tail|broken'
	{ grep -oE "\"verdict\":\"($verdicts)\"" "$work/comparison.json" ||
		true; } | wc -l
}

row() {
	printf '| %s | %s | %s |\n' "$@"
}

measure "$base" "$work/base.json"
unpack "$base" "$work/base.vmlinux"
unpack "$new" "$work/new.vmlinux"
make_initramfs
for number in $(seq $ROUNDS); do
	round
	printf 'timed: round %d\n' "$number" >&2
done
R=$(printf '%d\n' "$(median raw-base)" "$(median raw-new)" | sort -n | tail -n 1)
compare
different=$(different_results)
aa="$(differences "$base") and $(differences "$new")"
size=$(awk '{ printf "%.1f MB", $1 / 1e6 }' <<<"$(stat -c %s "$pathmeter")")

printf '%s processors (%s), %s\n' "$(nproc)" \
	"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
	"$(qemu-system-x86_64 --version | head -n 1)"
head -n 2 "$work/table"
printf '\n'
row what limit measured
row --- --- ---
row 'R: raw exact boot of the slower kernel to /init' '' \
	"$(awk -v r="$R" 'BEGIN { printf "%.2f s", r / 1e6 }')"
row 'compare two kernels, nothing cached' '≤ 15 s' "$(ratio nothing)"
row 'the same, snapshots cached' '≤ 3 s' "$(ratio snapshots)"
row 'the same, results cached' '≤ 0.3 s' "$(ratio results)"
row "compare --only 'syscall.*', nothing cached" '≤ 2.0 R' "$(ratio only-nothing)"
row 'the same, snapshots cached' '≤ 0.4 R' "$(ratio only-snapshots)"
row 'explain switch.yield of base, snapshot and symbols cached' '≤ 3 s' "$(ratio explain)"
row 'compare --explain, snapshots and symbols cached' '' "$(ratio compare-explain)"
row "one kernel measured $REPEATS times, half of them under load: different results" 1 "$different"
row 'paths that differ between two measurements of one kernel (base, new)' '0 and 0' "$aa"
row 'binary' '≤ 20 MB' "$size"
