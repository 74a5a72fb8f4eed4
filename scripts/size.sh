#!/bin/sh
# Prints how large the house is: lines of Rust by crate, and words of the documents.
#
#   size.sh            a table of crates, how many doc comments have at most four words, then the
#                      pages from the longest on
#
# A line is code, a comment (one that begins with //), or neither, if it is empty. All lines of
# tests/ folders, of tests.rs and of *_test.rs are tests, and so is the rest of a file from the line
# `#[cfg(test)]` before a module on.
set -eu
cd "$(dirname "$0")/.."

# lines: reads the Rust sources whose names come from stdin, separated by NUL.
lines() {
	xargs -0 awk '
	FNR == 1 {
		split(FILENAME, part, "/")
		crate = part[1] == "crates" ? part[2] : part[1]
		test = FILENAME ~ /\/tests\/|\/tests\.rs$|_test\.rs$/
		marked = 0
	}
	marked && /^(pub(\([a-z]+\))? )?mod [a-z_]+ \{/ { test = 1 }
	{ marked = /^#\[cfg\(test\)\]/ }
	/^[ \t]*\/\/\// { words += NF - 1; documents = 1; }
	!/^[ \t]*\/\/\// { short += documents && words <= 4; words = documents = 0 }
	{ all[crate]++ }
	test { tests[crate]++; next }
	/^[ \t]*$/ { next }
	/^[ \t]*\/\// { comments[crate]++; next }
	{ code[crate]++ }
	END {
		form = "%-12s %8d %8d %8d %8d\n"
		printf "%-12s %8s %8s %8s %8s\n", "crate", "code", "comments", "tests", "all"
		fflush()
		for (crate in all) {
			printf form, crate, code[crate], comments[crate], tests[crate], \
				all[crate] | "sort"
			sums["code"] += code[crate]
			sums["comments"] += comments[crate]
			sums["tests"] += tests[crate]
			sums["all"] += all[crate]
		}
		close("sort")
		printf form, "all", sums["code"], sums["comments"], sums["tests"], sums["all"]
		printf "\ndoc comments of at most four words: %d\n", short
	}'
}

git ls-files -z --cached --others --exclude-standard -- '*.rs' | lines
printf '\nwords\n'
git ls-files -z -- '*.md' | xargs -0 wc -w | sort -nr
