#!/usr/bin/env bash
# Takes the measurements of docs/performance.md and prints them as a table in Markdown.
#
#   run.sh PATHMETER BASE NEW
#
# BASE and NEW are kernel images. Everything happens in a temporary folder with a cache of its own;
# progress goes to stderr. Takes about five minutes. A wall time is the median of RUNS runs.
set -euo pipefail
shopt -s inherit_errexit

readonly RUNS=3          # of each timed comparison; odd
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
	"$pathmeter" compare --quiet "$base" "$new" >"$work/table"
}

measure() {
	"$pathmeter" measure --quiet --no-cache "$1" -o "$2" >/dev/null
}

# wall PREPARE: the median wall time of RUNS comparisons, in seconds, PREPARE before each.
wall() {
	local run begun
	for run in $(seq $RUNS); do
		"$1"
		begun=${EPOCHREALTIME/./}
		compare
		printf '%s: run %d\n' "$1" "$run" >&2
		printf '%d\n' $((${EPOCHREALTIME/./} - begun))
	done | sort -n | awk -v middle=$(((RUNS + 1) / 2)) 'NR == middle { printf "%.2f s", $1 / 1e6 }'
}

nothing_cached() {
	rm -rf "$XDG_CACHE_HOME"
}

snapshots_cached() {
	rm -f "$XDG_CACHE_HOME"/pathmeter/*.result
}

results_cached() {
	:
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
	{ grep -oE '"verdict":"(higher|lower|mode-appeared|broken)"' "$work/comparison.json" || true; } | wc -l
}

row() {
	printf '| %s | %s | %s |\n' "$@"
}

cold=$(wall nothing_cached)
warm=$(wall snapshots_cached)
cached=$(wall results_cached)
different=$(different_results)
aa="$(differences "$base") and $(differences "$new")"
size=$(awk '{ printf "%.1f MB", $1 / 1e6 }' <<<"$(stat -c %s "$pathmeter")")

printf '%s processors (%s), %s\n' "$(nproc)" \
	"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
	"$(qemu-system-x86_64 --version | head -n 1)"
head -n 2 "$work/table"
printf '\n'
row what bar measured
row --- --- ---
row 'compare two kernels, nothing cached' '≤ 15 s' "$cold"
row 'the same, snapshots cached' '≤ 3 s' "$warm"
row 'the same, results cached' '≤ 0.3 s' "$cached"
row "one kernel measured $REPEATS times, half of them with every processor loaded: different results" \
	1 "$different"
row 'paths that differ between two measurements of one kernel (base, new)' '0 and 0' "$aa"
row 'binary' '≤ 20 MB' "$size"
