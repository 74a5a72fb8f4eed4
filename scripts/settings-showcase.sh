#!/usr/bin/env bash
# Measures what settings cost on several CPUs and kernels, and writes the tables of
# docs/evidence/what-settings-cost.md anew; its sentences are left alone.
#
#   settings-showcase.sh PATHMETER FOLDER KERNEL... [-- ARGUMENT...]
#
# PATHMETER is the built command, FOLDER keeps the documents: what is there is not measured again.
# ARGUMENTs are handed to `settings`: a program that is run under each setting as well, and what it
# needs. CPUS are the profiles; QEMU names one that has them all. It takes jq and bash.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
page=$here/../docs/evidence/what-settings-cost.md
cpus=${CPUS:-skylake icelake zen3}
qemu=${QEMU:-qemu-system-x86_64}

# The paths of the columns.
paths='["syscall.getppid","switch.yield","file.open-close","memory.fault-anon","tcp.round-trip"]'

die() {
	printf 'settings-showcase.sh: %s\n' "$*" >&2
	exit 1
}

[ $# -ge 3 ] || die 'give PATHMETER, FOLDER and at least one KERNEL'
command -v jq >/dev/null || die 'jq is missing: install the package jq'
pathmeter=$1 folder=$2
shift 2
kernels=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	kernels+=("$1")
	shift
done
[ $# -eq 0 ] || shift
mkdir -p "$folder"

# document CPU KERNEL: where its result is.
document() {
	printf '%s/%s-%s.json\n' "$folder" "$1" "$(basename "$2")"
}

for cpu in $cpus; do
	for kernel in "${kernels[@]}"; do
		document=$(document "$cpu" "$kernel")
		[ -s "$document" ] || "$pathmeter" settings "$kernel" --qemu "$qemu" --cpu "$cpu" \
			--perturb 5 --set mitigations --set hardening --json -o "$document" "$@" \
			>/dev/null
	done
done

# table CPU: a row for each setting that changes one of the paths or the program, or executes other
# slow instructions, with the prices on each kernel, in their order.
table() {
	printf '**%s**\n\n' "$1"
	for kernel in "${kernels[@]}"; do
		cat "$(document "$1" "$kernel")"
	done | jq -rs --argjson paths "$paths" '
		def signed: if . > 0 then "+\(.)" else tostring | sub("-"; "−") end;
		def hundredths:
			(. * 100 | round) as $all | (if $all < 0 then -$all else $all end) as $size
			| (if $all < 0 then "−" else "+" end)
				+ "\($size / 100 | floor).\("0\($size % 100)"[-2:])";
		def differences($setting; $path):
			map([.sets[].rows[] | select(.setting == $setting) | .changed[]
				| select(.path == $path and .difference != 0)
				| (.price // .) | .difference | signed][0] // "0")
			| if unique == ["0"] then "" else join(" / ") end;
		def program($setting):
			map([.sets[].rows[] | select(.setting == $setting) | .program
				| select(. != null and .verdict != "same")
				| (.price // .) | .percent | hundredths + " %"][0] // "0")
			| if unique == ["0"] then "" else join(" / ") end;
		def slow($setting):
			[.[0].sets[].rows[] | select(.setting == $setting)
				| (if .turns_off then -1 else 1 end) as $sign | .events
				| sort_by(-.paths) | .[:3][] | select(.paths >= 6)
				| "`\(.event)` \(.difference * $sign | signed)"] | join(", ");
		def name($setting):
			[.[0].sets[].rows[] | select(.setting == $setting)
				| (if .turns_off then "\(.turns_off): " else "" end)
					+ "`\($setting)`"][0];
		. as $documents
		| [.[0].program[-1]? // empty | split("/")[-1] | split(".")[0]]
			as $programs
		| ["| price of | " + ($paths | map("`\(.)` | ") | join(""))
				+ ($programs | map("\(.) | ") | join("")) + "slow instructions |",
			"|---|" + ($paths + $programs | map("---|") | join("")) + "---|"]
		+ [.[0].sets[].rows[].setting as $setting
			| [$paths[] as $path | $documents | differences($setting; $path)] as $cells
			| [$programs[] as $program | $documents | program($setting)] as $costs
			| ($documents | slow($setting)) as $slow
			| select(($cells + $costs | any(. != "")) or $slow != "")
			| "| \($documents | name($setting)) | "
				+ ($cells + $costs | map(. + " | ") | join("")) + "\($slow) |"]
		| .[]'
	echo
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for cpu in $cpus; do table "$cpu"; done >"$work/tables"
awk -v part="$work/tables" '
	/^<!-- end of the tables -->/ { inside = 0 }
	!inside { print }
	/^<!-- tables/ { inside = 1; print ""; while ((getline line < part) > 0) print line }
' "$page" >"$work/page"
cat "$work/page" >"$page"
