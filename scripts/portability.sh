#!/bin/sh
# Does pathmeter work, and count the same, with the QEMU of other Debian releases?
#
#   portability.sh [-s] PATHMETER ROOTS BASE NEW [ROOT...]
#
# Under each ROOT of ROOTS that scripts/roots.sh makes (default: all): `doctor`, the comparison of
# the kernels BASE and NEW, one explanation, one experiment. Then NEW's counts on every path, and
# the lab kernel's, must be those of the QEMU on PATH. With -s (short) there is no explanation, and
# only the lab kernel's counts are looked at. Nothing cached is used, and nothing is kept. A
# step that fails shows what it printed; the others are run all the same, and the script fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

die() {
	printf 'portability.sh: %s\n' "$*" >&2
	exit 1
}

now() {
	date +%s%N
}

# step ROOT NAME COMMAND...: runs it, and says how it ended and how long it took.
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

# counts ROOT QEMU: what the kernel and the lab kernel cost under it, as documents.
# shellcheck disable=SC2317,SC2329 # `step` runs it
counts() {
	[ -n "$short" ] ||
		"$pathmeter" measure --qemu "$2" "$new" --json -o "$work/$1.json" || return
	"$pathmeter" measure --qemu "$2" lab --json -o "$work/$1-lab.json"
}

# equal FILE FILE: no path is higher either way round, and none is unsupported in one of them only.
# `--across`: the versions of QEMU differ.
# shellcheck disable=SC2317,SC2329 # `step` runs it
equal() {
	"$pathmeter" compare "$1" "$2" --across --check || return
	"$pathmeter" compare "$2" "$1" --across --check >"$work/table" || return
	! grep -E ' unsupported +(base|new): ' "$work/table"
}

try() {
	root=$1 qemu=$roots/$1/qemu
	"$qemu" --version | head -n 1
	step "$root" doctor "$pathmeter" doctor --qemu "$qemu"
	step "$root" compare "$pathmeter" compare --qemu "$qemu" "$base" "$new"
	[ -n "$short" ] ||
		step "$root" explain \
			"$pathmeter" explain --qemu "$qemu" file.read-zero "$base" "$new"
	step "$root" experiment "$pathmeter" experiment --qemu "$qemu" vgetcpu-2007
	step "$root" measure counts "$root" "$qemu"
	[ -n "$short" ] || step "$root" kernel equal "$work/here.json" "$work/$root.json"
	step "$root" lab equal "$work/here-lab.json" "$work/$root-lab.json"
}

short=
[ "${1:-}" != -s ] || { short=1 && shift; }
[ $# -ge 4 ] || die "usage: portability.sh [-s] PATHMETER ROOTS BASE NEW [ROOT...]"
pathmeter=$(realpath "$1") roots=$2 base=$(realpath "$3") new=$(realpath "$4")
shift 4
[ $# -ge 1 ] || set -- backports trixie sid
"$here/roots.sh" "$roots" "$@"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export XDG_CACHE_HOME="$work/cache"
failed=0
here_qemu=$(command -v qemu-system-x86_64) || die "no qemu-system-x86_64 on PATH"
"$here_qemu" --version | head -n 1
step here measure counts here "$here_qemu"
for name in "$@"; do
	try "$name"
done
exit "$failed"
