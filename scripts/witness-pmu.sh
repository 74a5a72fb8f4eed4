#!/bin/sh
# Holds pathmeter's exact counts against this machine's processor (docs/evidence/witness-pmu.md).
#
#   witness-pmu.sh PATHMETER PROGRAM FOLDER
#
# PATHMETER and PROGRAM are the built commands. FOLDER gets the exact result, the document and the
# table. KERNEL is the image of the running kernel, if it is not where distributions have it; CPU a
# profile of `pathmeter measure --cpu`, PIN the CPU to execute on.
set -eu

pathmeter=$1 program=$2 folder=$3
devices=/sys/bus/event_source/devices

die() {
	printf 'witness-pmu: %s\n' "$*" >&2
	exit 1
}

[ "$(uname -sm)" = 'Linux x86_64' ] || die 'this is for Linux on x86-64'

# Known without root, and before anything is measured. Two kinds of core have a device each.
[ -e "$devices/cpu" ] || [ -e "$devices/cpu_core" ] ||
	die "Linux knows no performance counters here ($devices/cpu): a virtual machine" \
		"often has none. Run it on the machine itself; what Linux found says:" \
		"dmesg | grep -i 'performance events'"

release=$(uname -r)
if [ -z "${KERNEL:-}" ]; then
	for KERNEL in "/boot/vmlinuz-$release" "/lib/modules/$release/vmlinuz"; do
		[ ! -e "$KERNEL" ] || break
	done
fi
[ -e "$KERNEL" ] || die "no image of the running kernel ($KERNEL): name it, KERNEL=FILE"
[ -r "$KERNEL" ] || die "$KERNEL is for root alone: copy it with sudo, make it readable," \
	'and name it, KERNEL=FILE'

if [ "$(id -u)" = 0 ]; then
	root=
else
	command -v sudo >/dev/null ||
		die 'the counter is for root alone, and there is no sudo: be root'
	root=sudo
fi

if [ -z "${CPU:-}" ]; then
	CPU=plain
	echo 'witness-pmu: CPU=plain, which is like no machine: name the profile nearest to' \
		'this processor, as CPU=icelake (docs/reference/cpu.md)' >&2
fi

mkdir -p "$folder"
"$pathmeter" measure "$KERNEL" --cpu "$CPU" -o "$folder/exact.json" >/dev/null
$root "$program" "$folder/exact.json" --pin "${PIN:-0}" -o "$folder/witness.json" \
	>"$folder/table.txt" || exit
cat "$folder/table.txt"
printf '\n%s has table.txt and witness.json; %s says where to send it\n' "$folder" \
	"docs/evidence/witness-pmu.md"
