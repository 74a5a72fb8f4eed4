#!/bin/sh
# Makes each target of the Makefile that is named, in this order, and prints how long each took. The
# first that fails ends it.
#
#   stages.sh TARGET...
set -eu

for target in "$@"; do
	started=$(date +%s)
	printf '== make %s\n' "$target"
	make --no-print-directory "$target"
	printf '== make %s: %d s\n' "$target" $(($(date +%s) - started))
done
