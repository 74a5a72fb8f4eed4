#!/bin/sh
# Measures the kernels of tests/kernels/power and compares each with base: how often a change of 1,
# 2 and 5 instructions is found, and how often a kernel that only has another layout is blamed.
#
#   power.sh PATHMETER KERNELS FOLDER [VARIANT...]
#
# PATHMETER is the built command, KERNELS the folder that `make power-kernels` fills; without a
# VARIANT, all that are there. FOLDER keeps the results and comparisons, and the tables:
# FOLDER/power.md, which is printed as well. A result that is newer than its kernel is not measured
# again; after a change of what `measure` does, remove FOLDER. All comparisons are made anew. RUNS
# are the numbers of runs to try, CPU is the profile to measure on. It takes jq.
#
# Which paths contain a changed function, and how often, is in power.awk.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
runs=${RUNS:-2 3 6}
cpu=${CPU:-skylake}

die() {
	printf 'power.sh: %s\n' "$*" >&2
	exit 1
}

# measure VARIANT RUNS: its result is FOLDER/VARIANT-RUNS.json.
measure() {
	kernel=$kernels/$1.bzImage
	document=$folder/$1-$2.json
	[ -z "$(find "$document" -newer "$kernel" 2>/dev/null)" ] || return 0
	"$pathmeter" measure "$kernel" --cpu "$cpu" --perturb "$2" --json -o "$document.new" -q \
		>/dev/null || die "can't measure $kernel"
	mv "$document.new" "$document"
}

# compare VARIANT RUNS: a line for each path: variant, runs, path, verdict, difference.
compare() {
	comparison=$folder/$1-$2.compared.json
	"$pathmeter" compare "$folder/base-$2.json" "$folder/$1-$2.json" --json -o "$comparison" \
		-q >/dev/null || die "can't compare $1 with base, with $2 runs"
	jq -r --arg variant "$1" --arg runs "$2" \
		'.paths[] | [$variant, $runs, .path, .verdict, .difference // "-"] | @tsv' \
		"$comparison"
}

all_variants() {
	for kernel in "$kernels"/*.bzImage; do
		basename "$kernel" .bzImage
	done | grep -vx base
}

[ $# -ge 3 ] || die 'give PATHMETER, KERNELS and FOLDER'
command -v jq >/dev/null || die 'jq is missing: install the package jq'
pathmeter=$1 kernels=$2 folder=$3
shift 3
[ -e "$kernels/base.bzImage" ] || die "no $kernels/base.bzImage; make power-kernels builds it"
mkdir -p "$folder"

# Names hold no blanks: splitting them is meant.
# shellcheck disable=SC2046
[ $# -ge 1 ] || set -- $(all_variants)
for number in $runs; do
	measure base "$number"
	for variant in "$@"; do
		measure "$variant" "$number"
		compare "$variant" "$number"
	done
done >"$folder/rows"
awk -v runs="$runs" -f "$here/power.awk" "$folder/rows" | tee "$folder/power.md"
