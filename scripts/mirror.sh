#!/bin/sh
# Prints the address of the Debian mirror that this machine's apt uses; DEBIAN_MIRROR overrides it.
set -eu

die() {
	printf 'mirror.sh: %s\n' "$*" >&2
	exit 1
}

# The archive proper: security updates and backports have labels of their own.
# shellcheck disable=SC2016 # apt fills in the variable
archive() {
	apt-get indextargets --format '$(SITE)' \
		'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1
}

mirror=${DEBIAN_MIRROR:-}
if [ -z "$mirror" ]; then
	command -v apt-get >/dev/null ||
		die "no apt here; set DEBIAN_MIRROR to a Debian mirror's address"
	mirror=$(archive)
	# Lists that were never fetched name nothing.
	[ -n "$mirror" ] || [ "$(id -u)" != 0 ] || { apt-get update -qq && mirror=$(archive); }
	[ -n "$mirror" ] || die "apt knows no Debian mirror; set DEBIAN_MIRROR to one's address"
fi
printf '%s\n' "$mirror"
