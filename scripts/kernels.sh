#!/bin/sh
# Fetches two real kernels to compare: DIR/cloud.deb and DIR/rt.deb, each once.
#
#   kernels.sh DIR
#
# They are the packages that the distribution's metapackages stand for today. `apt-get download`
# installs nothing and needs no privilege; only package lists that are empty or stale need root.
set -eu

die() {
	printf 'kernels.sh: %s\n' "$*" >&2
	exit 1
}

# image METAPACKAGE: the package with the kernel that it depends on; nothing if there is none.
image() {
	apt-cache depends "$1" 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1
}

# first_image METAPACKAGE...: that of the first one that the package lists know.
first_image() {
	for metapackage in "$@"; do
		found=$(image "$metapackage")
		[ -z "$found" ] || break
	done
	printf '%s\n' "$found"
}

# download NAME METAPACKAGE...: into DIR/NAME.deb, whole or not at all.
download() {
	name=$1
	shift
	package=$(first_image "$@")
	[ -n "$package" ] || return
	rm -rf "$dir/.new"
	mkdir "$dir/.new"
	printf 'fetching %s\n' "$package" >&2
	(cd "$dir/.new" && apt-get download -qq -o APT::Sandbox::User=root "$package" >/dev/null) ||
		return
	mv "$dir/.new"/*.deb "$dir/$name.deb"
	rmdir "$dir/.new"
}

update() {
	[ "$(id -u)" = 0 ] || die "the package lists are empty or stale; run: sudo apt-get update"
	apt-get update -qq
}

# fetch NAME METAPACKAGE...: the first that there is; Debian's name stands first, then Ubuntu's.
fetch() {
	[ ! -e "$dir/$1.deb" ] || return 0
	download "$@" || { update && download "$@"; } ||
		die "no kernel package for $1; put a linux-image .deb at $dir/$1.deb and try again"
}

[ $# = 1 ] || die "usage: kernels.sh DIR"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
[ -e "$dir/cloud.deb" ] && [ -e "$dir/rt.deb" ] && exit
command -v apt-cache >/dev/null ||
	die "no apt here; put two linux-image .deb packages at $dir/cloud.deb and $dir/rt.deb"

# Two runs may share DIR: the second waits.
exec 9>"$dir/.lock"
flock 9
fetch cloud linux-image-cloud-amd64 linux-image-virtual
fetch rt linux-image-rt-amd64 linux-image-lowlatency
