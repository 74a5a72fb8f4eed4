#!/bin/sh
# Installs the Debian package as apt does, uses it, and removes it. scripts/clean-root.sh runs it as
# root in a minimal Debian that has nothing of pathmeter's.
#
#   deb-test.sh PACKAGE.deb
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

die() {
	printf 'deb-test.sh: %s\n' "$*" >&2
	exit 1
}

# holds TEXT COMMAND...: the command succeeds and prints the text.
holds() {
	wanted=$1
	shift
	output=$("$@" 2>&1) || die "$*: failed: $output"
	case $output in
	*"$wanted"*) printf 'ok  %s\n' "$*" ;;
	*) die "$*: no '$wanted' in: $output" ;;
	esac
}

# as_user COMMAND...: without root's privileges, in a home of its own.
as_user() {
	setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp/home "$@"
}

apt="apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0"
[ -e "$1" ] || die "no $1"
! command -v qemu-system-x86_64 >/dev/null || die "this root is not clean: QEMU is there"
# A newer package that the lists don't know is not in the root: then they are fetched.
$apt --no-download install "$1" man-db >/tmp/log 2>&1 ||
	{ apt-get -qq update && $apt install "$1" man-db >/tmp/log 2>&1; } ||
	die "it can't be installed: $(cat /tmp/log)"
printf 'ok  installed\n'

mkdir /tmp/home
chown 65534:65534 /tmp/home
version=$(dpkg-query -W -f '${Version}' pathmeter)
holds "pathmeter $version" as_user pathmeter --version
holds 'hot path' env MANWIDTH=80 man pathmeter
holds '--budget' env MANWIDTH=80 man pathmeter-compare
holds 'pathmeter' bash -c '
	. /usr/share/bash-completion/completions/pathmeter && complete -p pathmeter'
holds '#compdef pathmeter' cat /usr/share/zsh/vendor-completions/_pathmeter
holds 'complete -c pathmeter' cat /usr/share/fish/vendor_completions.d/pathmeter.fish
holds 'CDDL' cat /usr/share/doc/pathmeter/copyright
holds 'inferno' zcat /usr/share/doc/pathmeter/licences-of-crates.gz
holds 'max-increase' cat /usr/share/doc/pathmeter/examples/budget.toml
holds 'exact runs work here' as_user pathmeter doctor
holds 'syscall.getppid' as_user pathmeter measure lab --only syscall.getppid

$apt purge pathmeter >/tmp/log 2>&1 || die "it can't be removed: $(cat /tmp/log)"
left=$(find /usr /etc /var/lib -xdev -name '*pathmeter*' ! -path '*/dpkg/*' ! -path '*/apt/*')
[ -z "$left" ] || die "removed, it leaves $left"
printf 'ok  removed\n'
