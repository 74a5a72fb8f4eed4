#!/bin/sh
# Prints the file with the keys by which Debian's packages are checked. Its name depends on the
# release.
set -eu

for file in /usr/share/keyrings/debian-archive-keyring.gpg \
	/usr/share/keyrings/debian-archive-keyring.pgp; do
	[ ! -e "$file" ] || { printf '%s\n' "$file" && exit; }
done
printf 'keyring.sh: no keys to check packages by; apt-get install debian-archive-keyring\n' >&2
exit 1
