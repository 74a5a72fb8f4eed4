#!/bin/sh
# Fetches the source of which the test kernels are built, once: Debian 12's linux-source-6.1.
#
#   linux-source.sh FILE
#
# The same source on every distribution: the package is fetched from the Debian mirror that apt
# uses, with package lists of its own, whatever release this is. Nothing is installed, and no
# privilege is needed. Signatures are checked by the keys of debian-archive-keyring.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
package=linux-source-6.1

die() {
	printf 'linux-source.sh: %s\n' "$*" >&2
	exit 1
}

# apt ARGUMENT...: in a world of its own. An old release's lists have no date that is still valid.
apt() {
	apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$work/lists" -o Dir::State::Status="$work/status" \
		-o Dir::Cache="$work/cache" -o Acquire::Check-Valid-Until=false \
		-o Acquire::Languages=none \
		-o APT::Sandbox::User=root "$@" >/dev/null
}

fetch() {
	mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
	: >"$work/status"
	printf 'deb [signed-by=%s] %s bookworm main\n' "$1" "$2" >"$work/sources.list"
	apt update || die "can't fetch the package lists of Debian 12 from $2"
	(cd "$work" && apt download "$package") || die "can't fetch $package of Debian 12 from $2"
	dpkg-deb --fsys-tarfile "$work/$package"_*.deb |
		tar -xO "./usr/src/$package.tar.xz" >"$work/source" ||
			die "$package holds no source"
}

[ $# = 1 ] || die "usage: linux-source.sh FILE"
[ ! -s "$1" ] || exit 0
for tool in apt-get dpkg-deb; do
	command -v "$tool" >/dev/null ||
		die "no $tool here; set LINUX_SOURCE to a linux-source-6.1.tar.xz"
done
keys=$("$here/keyring.sh")
mirror=$("$here/mirror.sh")
printf 'fetching %s\n' "$package" >&2
mkdir -p "$(dirname "$1")"
work=$(mktemp -d "$1.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
fetch "$keys" "$mirror"
mv "$work/source" "$1"
