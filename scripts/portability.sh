#!/bin/sh
# Does pathmeter work, and count the same, with the QEMU of other Debian releases?
#
#   portability.sh [-s] PATHMETER ROOTS BASE NEW [ROOT...]
#
# Under each ROOT of ROOTS that scripts/roots.sh makes (default: all): `doctor`, the comparison of
# the kernels BASE and NEW, one explanation, one experiment. Then every sample of BASE, NEW and the
# lab kernel must be the one that the QEMU on PATH gives, and the results must be comparable. With
# -s (short) there is no explanation, and only the lab kernel is looked at. Nothing cached is used,
# and nothing is kept. A step that fails shows what it printed; the others are run all the same, and
# the script fails.
#
# The long form makes the table of docs/explanation/exactness.md: it must be the one that is there,
# or is put there with PATHMETER_BLESS=1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

die() {
	printf 'portability.sh: %s\n' "$*" >&2
	exit 1
}

now() {
	date +%s%N
}

# step ROOT NAME COMMAND...: runs it, and prints how it ended and how long it took.
step() {
	root=$1 name=$2
	shift 2
	started=$(now)
	if "$@" >"$work/log" 2>&1; then
		verdict=ok
	else
		verdict="FAILED ($?): $*"
		failed=1
	fi
	tenths=$((($(now) - started) / 100000000))
	printf '%-10s %-11s %4d.%d s  %s\n' \
		"$root" "$name" $((tenths / 10)) $((tenths % 10)) "$verdict"
	[ "$verdict" = ok ] || tail -n 50 "$work/log" | sed 's/^/    /'
}

# measure ROOT QEMU: the subjects' results under it.
# shellcheck disable=SC2317,SC2329 # `step` runs it
measure() {
	for subject in $subjects; do
		"$pathmeter" measure --qemu "$2" "$(file_of "$subject")" --json \
			-o "$work/$1-$subject.json" || return
	done
}

# shellcheck disable=SC2317,SC2329 # `measure` calls it
file_of() {
	case $1 in
	base) echo "$base" ;;
	new) echo "$new" ;;
	*) echo "$1" ;;
	esac
}

# samples FILE: the name and the samples of each path of a result. Not its events: what helpers of
# QEMU access, versions see differently (docs/reference/events.md).
samples() {
	grep -o '"path":"[^"]*"\|"samples":\[[0-9,]*\]' "$1"
}

# same ROOT SUBJECT: its samples are those of the QEMU on PATH, and the two results are comparable.
# shellcheck disable=SC2317,SC2329 # `step` runs it
same() {
	samples "$work/here-$2.json" >"$work/left" && samples "$work/$1-$2.json" >"$work/right"
	[ -s "$work/left" ] && cmp "$work/left" "$work/right" || return
	"$pathmeter" compare "$work/here-$2.json" "$work/$1-$2.json" --check
}

# column ROOT QEMU: what the table shows of it: its version, then a line for each subject.
column() {
	"$2" --version | sed -n 's/.*version \([0-9.]*\).*/QEMU \1/p'
	for subject in $subjects; do
		if [ "$1" = here ]; then
			ok=$(grep -o '"status":"ok"' "$work/here-$subject.json" | wc -l)
			echo "$ok paths"
		elif same "$1" "$subject" >/dev/null 2>&1; then
			echo 'the same samples'
		else
			echo 'differs'
		fi
	done
}

try() {
	root=$1 qemu=$roots/$1/qemu
	"$qemu" --version | head -n 1
	step "$root" doctor "$pathmeter" doctor --qemu "$qemu"
	step "$root" compare "$pathmeter" compare --qemu "$qemu" "$base" "$new"
	step "$root" run "$pathmeter" run --qemu "$qemu" --perturb 2 "$base" -- /bin/true
	[ -n "$short" ] ||
		step "$root" explain \
			"$pathmeter" explain --qemu "$qemu" file.read-zero "$base" "$new"
	step "$root" experiment "$pathmeter" experiment --qemu "$qemu" vgetcpu-2007
	step "$root" measure measure "$root" "$qemu"
	for subject in $subjects; do
		step "$root" "same $subject" same "$root" "$subject"
	done
	column "$root" "$qemu" >"$work/$root.column"
}

# table ROOT...: what docs/explanation/exactness.md shows, between its marks.
# shellcheck disable=SC2317,SC2329 # `step` runs it
table() {
	printf '%s\n' subject "$(basename "$base")" "$(basename "$new")" lab >"$work/rows"
	cp "$work/rows" "$work/table"
	for column in here "$@"; do
		paste -d '|' "$work/table" "$work/$column.column" >"$work/wider"
		mv "$work/wider" "$work/table"
	done
	sed 's/|/ | /g; s/^/| /; s/$/ |/' "$work/table" | sed '1{p;s/[^|]/-/g}'
}

# check_table ROOT...: the table in the document is this one.
# shellcheck disable=SC2317,SC2329 # `step` runs it
check_table() {
	table "$@" >"$work/shown"
	awk -v table="$work/shown" '
	/<!-- portability: end/ { inside = 0 }
	!inside { print }
	/<!-- portability: begin/ { inside = 1; while ((getline line < table) > 0) print line }
	' "$document" >"$work/document"
	[ "${PATHMETER_BLESS:-}" != 1 ] || cp "$work/document" "$document"
	diff "$document" "$work/document"
}

short=
[ "${1:-}" != -s ] || { short=1 && shift; }
[ $# -ge 4 ] || die "usage: portability.sh [-s] PATHMETER ROOTS BASE NEW [ROOT...]"
pathmeter=$(realpath "$1") roots=$2 base=$(realpath "$3") new=$(realpath "$4")
shift 4
[ $# -ge 1 ] || set -- backports trixie sid
"$here/roots.sh" "$roots" "$@"

subjects='base new lab'
[ -z "$short" ] || subjects=lab
document=$here/../docs/explanation/exactness.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export XDG_CACHE_HOME="$work/cache"
failed=0
here_qemu=$(command -v qemu-system-x86_64) || die "no qemu-system-x86_64 on PATH"
"$here_qemu" --version | head -n 1
step here measure measure here "$here_qemu"
column here "$here_qemu" >"$work/here.column"
for name in "$@"; do
	try "$name"
done
[ -n "$short" ] || step here table check_table "$@"
exit "$failed"
