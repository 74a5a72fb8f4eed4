#!/bin/sh
# Installs those of the named Debian or Ubuntu packages that are missing.
#
#   packages.sh PACKAGE[:COMMAND]...
#
# A package counts as there if it is installed, or if COMMAND is on PATH wherever it came from.
# When all are there nothing is run and no privilege is needed. Only root installs; anyone else is
# told what is missing and the command that installs it, and the script fails.
set -eu

installed() {
	case $1 in
	*:*) command -v "${1#*:}" >/dev/null && return ;;
	esac
	[ "$(dpkg-query -W -f '${db:Status-Status}' "${1%%:*}" 2>/dev/null)" = installed ]
}

die() {
	printf 'packages.sh: %s\n' "$*" >&2
	exit 1
}

missing=
for package in "$@"; do
	installed "$package" || missing="$missing ${package%%:*}"
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null ||
	die "missing, by the names that Debian has for them:$missing; install them and try again"
install="apt-get install -y --no-install-recommends$missing"
[ "$(id -u)" = 0 ] || die "missing:$missing; install them with: sudo $install"

printf 'installing%s\n' "$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# A package that the lists don't know, or know in a version that is gone, needs newer lists.
# The names hold no blanks: splitting the command is meant.
# shellcheck disable=SC2086
$install -qq </dev/null >/dev/null 2>&1 ||
	{ apt-get update -qq && $install -qq </dev/null >/dev/null; } ||
	die "this failed: $install"
