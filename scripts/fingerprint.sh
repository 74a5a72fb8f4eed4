#!/bin/sh
# Prints what must be the same on every machine that has the same kernels, agent and QEMU: their
# hashes, and a digest of all samples and events of the lab kernel and of each KERNEL.
#
#   fingerprint.sh PATHMETER KERNEL...
#
# Lines that differ between two machines name the reason: another kernel, agent or QEMU counts
# otherwise. Should only the digests differ, the exact mode is broken: please report both outputs.
set -eu

die() {
	printf 'fingerprint.sh: %s\n' "$*" >&2
	exit 1
}

# digest RESULT: of the samples, and of the events, of all paths in their order.
digest() {
	jq -c '.paths[] | [.path, .status, .samples_per_run, .samples, .events]' "$1" |
		sha256sum | cut -d' ' -f1
}

# print_side NAME KERNEL
print_side() {
	"$pathmeter" measure "$2" --json -o "$folder/result.json" -q >/dev/null ||
		die "can't measure $2"
	[ -n "$engine" ] || engine=$(jq -r '.configuration | "| QEMU | `\(.qemu)` |",
		"| firmware | `\(.firmware_sha256)` |", "| agent | `\(.agent_sha256)` |"' \
		"$folder/result.json")
	image=$(jq -r '.configuration.image_sha256' "$folder/result.json")
	rows="$rows| \`$1\` | \`$image\` | \`$(digest "$folder/result.json")\` |
"
}

[ $# -ge 1 ] || die 'give PATHMETER, and kernels'
command -v jq >/dev/null || die 'jq is missing: install the package jq'
pathmeter=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
engine='' rows=''
print_side lab lab
for kernel in "$@"; do
	print_side "$(basename "$kernel")" "$kernel"
done
printf '| part | identity |\n|---|---|\n%s\n\n' "$engine"
printf '| kernel | its hash | digest of all samples and events |\n|---|---|---|\n%s' "$rows"
