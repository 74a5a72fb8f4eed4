#!/bin/sh
# Installs those of the named packages that are missing; the names are Debian's.
#
#   packages.sh PACKAGE[:COMMAND]...
#
# A package counts as there if it is installed, or if COMMAND is on PATH wherever it came from.
# When all are there nothing is run and no privilege is needed. Only root installs, and only with
# apt; anyone else is told what is missing and the command that installs it, by the names that
# Fedora, openSUSE or Arch have for it, and the script fails. On other distributions a package
# without a COMMAND can't be asked for, and is taken to be there.
set -eu

# Debian's name, then Fedora's, openSUSE's and Arch's, where they differ.
names='
libc6-dev              glibc-devel            glibc-devel   glibc
qemu-system-x86        qemu-system-x86-core   qemu-x86      qemu-system-x86
xz-utils               xz                     xz            xz
iproute2               iproute                iproute2      iproute2
libelf-dev             elfutils-libelf-devel  libelf-devel  libelf
libssl-dev             openssl-devel          libopenssl-devel openssl
g++                    gcc-c++                gcc-c++       gcc
shellcheck             ShellCheck             ShellCheck    shellcheck
slurmctld              slurm-slurmctld        slurm         slurm-llnl
slurmd                 slurm-slurmd           slurm-node    slurm-llnl
slurm-client           slurm                  slurm         slurm-llnl
debian-archive-keyring debian-keyring         debian-archive-keyring debian-archive-keyring
'

die() {
	printf 'packages.sh: %s\n' "$*" >&2
	exit 1
}

# How this distribution asks for a package and installs it, and the column of its names.
if command -v apt-get >/dev/null; then
	column=1 install='apt-get install -y --no-install-recommends'
elif command -v dnf >/dev/null; then
	column=2 install='dnf install'
elif command -v zypper >/dev/null; then
	column=3 install='zypper install'
elif command -v pacman >/dev/null; then
	column=4 install='pacman -S'
else
	column=1 install=
fi

# named PACKAGE: its name here.
named() {
	printf '%s\n' "$names" |
		awk -v name="$1" -v column="$column" '
			$1 == name { name = $column } END { print name }'
}

installed() {
	case $1 in
	*:*) command -v "${1#*:}" >/dev/null && return ;;
	esac
	case $install in
	apt-get*)
		[ "$(dpkg-query -W -f '${db:Status-Status}' "${1%%:*}" 2>/dev/null)" = installed ]
		;;
	dnf* | zypper*) rpm -q --quiet "$(named "${1%%:*}")" ;;
	pacman*) pacman -Qq "$(named "${1%%:*}")" >/dev/null 2>&1 ;;
	*) case $1 in *:*) false ;; esac ;;
	esac
}

missing=
for package in "$@"; do
	installed "$package" || missing="$missing $(named "${package%%:*}")"
done
[ -n "$missing" ] || exit 0

[ -n "$install" ] ||
	die "missing, by the names that Debian has for them:$missing; install them and try again"
install="$install$missing"
if [ "$(id -u)" != 0 ] || [ "$column" != 1 ]; then
	die "missing:$missing; install them with: sudo $install"
fi

printf 'installing%s\n' "$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# A package that the lists don't know, or know in a version that is gone, needs newer lists.
# The names hold no blanks: splitting the command is meant.
# shellcheck disable=SC2086
$install -qq </dev/null >/dev/null 2>&1 ||
	{ apt-get update -qq && $install -qq </dev/null >/dev/null; } ||
	die "this failed: $install"
