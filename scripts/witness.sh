#!/bin/sh
# Checks the counts with a second interpreter, and prints the tables of docs/evidence/witness.md.
#
#   witness.sh PATHMETER KERNEL...
#
# Each KERNEL is a kernel file; the lab kernel follows, as it is, and with the variants of every
# subject of the experiments that has one CPU. Tables of kernel files are printed whole. Of the lab
# kernel's variants only the rows in which the two interpreters differ are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
pathmeter=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# table SUBJECT: into $work/table; exit code 1 says that paths differ, which the table shows.
table() {
	"$pathmeter" witness "$1" --quiet >"$work/table" || [ $? = 1 ]
}

for kernel in "$@" lab; do
	table "$kernel"
	sed 's/[[:space:]]*$//' "$work/table"
done

subjects=$(grep -oh '"lab:[a-z0-9=,+-]*"' "$here"/../experiments/*.toml | tr -d '"' |
	grep -v cpus=2 | sort -u)
printf 'variants of the lab kernel: paths that agree, and those that do not\n\n'
for subject in $subjects; do
	table "$subject"
	agree=$(grep -c ' 0  *[0-9]* of [0-9]*$' "$work/table" || true)
	printf '%s: %s agree\n' "$subject" "$agree"
	grep -E 'explained|differs|counted wrongly' "$work/table" | sed 's/^/    /' || true
done
