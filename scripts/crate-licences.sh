#!/bin/sh
# Prints the crates that are linked into pathmeter: each one's version, licence and address, and
# the texts of its licences as it has them.
set -eu
cd "$(dirname "$0")/.."
registry=${CARGO_HOME:-$HOME/.cargo}/registry/src

die() {
	printf 'crate-licences.sh: %s\n' "$*" >&2
	exit 1
}

# NAME VERSION LICENCE, of other people's crates.
crates() {
	cargo tree --locked --offline -p pathmeter -e normal --prefix none --format '{p} {l}' |
		grep -v '(/' | sed 's/ v/ /; s/ (proc-macro)//; s/ (\*)$//' | sort -u
}

crates | while read -r name version licence; do
	printf '== %s %s: %s\nhttps://crates.io/crates/%s/%s\n\n' \
		"$name" "$version" "$licence" "$name" "$version"
	folder=$(find "$registry" -mindepth 2 -maxdepth 2 -name "$name-$version" | head -n 1)
	[ -n "$folder" ] || die "the source of $name $version is not in $registry"
	find "$folder" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' \
		-o -iname 'notice*' -o -iname 'unlicense*' \) | sort |
		while read -r file; do
			printf -- '-- %s\n' "$(basename "$file")"
			cat "$file"
			echo
		done
done
