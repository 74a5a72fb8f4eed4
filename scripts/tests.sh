#!/bin/sh
# Prints the names of end-to-end tests, a line each, by the table tests/times.txt.
#
#   tests.sh core        those of every `make test`
#   tests.sh rest        all others, which `make full` runs as well
#   tests.sh part N      the Nth part of the rest, from 0; those of other checks have no tests
#   tests.sh of-commit   the number of the part that CI runs for the commit that is checked out
#
# The first three parts are checks of their own, which the Makefile names. From the longest to the
# shortest, a test of the rest goes to the other part that has the least to do.
set -eu
table=$(dirname "$0")/../tests/times.txt
parts=20
checks=3

names() {
	awk -v tier="$1" '$1 == tier { print $3 }' "$table"
}

part() {
	awk '$1 == "rest" { print $2, $3 }' "$table" | sort -k 1,1nr -k 2,2 |
		awk -v part="$1" -v parts="$parts" -v checks="$checks" '{
			least = checks
			for (at = checks + 1; at < parts; at++)
				if (seconds[at] < seconds[least])
					least = at
			seconds[least] += $1
			if (least == part)
				print $2
		}'
}

case ${1:-} in
core | rest) names "$1" ;;
part) part "$2" ;;
of-commit) echo $(($(git rev-list --count HEAD 2>/dev/null || echo 0) % parts)) ;;
*)
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
