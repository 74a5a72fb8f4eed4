#!/bin/sh
# Names each line of the sources that is longer than 100 columns, tabs to the next multiple of 8;
# fails if there is one.
#
#   columns.sh
#
# Markdown is left out, whose tables can't be broken.
set -eu
cd "$(dirname "$0")/.."

# New files that git does not know yet are sources too. The dollars are awk's.
# shellcheck disable=SC2016
git ls-files -z --cached --others --exclude-standard -- \
	'*.rs' '*.c' '*.h' '*.S' '*.sh' '*.toml' '*Makefile' .ci/run |
	LC_ALL=C xargs -0 awk '
	{
		# In UTF-8 all bytes of a character but the first are of this range.
		gsub(/[\200-\277]/, "")
		width = 0
		count = split($0, parts, "\t")
		for (part = 1; part < count; part++) {
			width += length(parts[part])
			width += 8 - width % 8
		}
		width += length(parts[count])
		if (width > 100) {
			printf "%s:%d: %d columns\n", FILENAME, FNR, width
			found = 1
		}
	}
	END { exit found }'
