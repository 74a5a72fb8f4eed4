#!/bin/sh
# What a new user of Debian 13 types first, in a clean root: `make run`, or the installation of the
# package.
#
#   clean-root.sh DIR                 make run
#   clean-root.sh DIR PACKAGE.deb     installs it, and runs scripts/deb-test.sh
#
# DIR keeps the root, made once. For `make run` it is a minimal Debian 13 with what the README asks
# for, GNU make and a Rust that is new enough, from Debian 13's backports; for the package a minimal
# Debian 13, to which apt has fetched what the package depends on, so that later runs need no
# mirror. A run sees a fresh layer over it, with this checkout or the package in it. The layer is
# mounted in a namespace of the run's own, which ends with it, however it ends: nothing stays
# mounted, and no process stays. The kernel is this machine's. Root only.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

die() {
	printf 'clean-root.sh: %s\n' "$*" >&2
	exit 1
}

# alone COMMAND...: in namespaces of its own; what it mounts or starts ends with it. Waited for in
# the background, so that a signal to this script is heard at once.
alone() {
	unshare --mount --pid --fork --mount-proc --kill-child --propagation private "$@" 9>&- &
	child=$!
	wait "$child"
}

# unshare ignores milder signals; its child, the first process of the namespace, dies with it.
end() {
	[ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true
	rm -rf --one-file-system "$dir.run" "$dir.new"
}

# What apt needs on this machine to reach its mirror, such as a proxy.
apt_access() {
	apt-config dump --no-empty | grep -E '^Acquire::https?::(.*::)?(Proxy|CaInfo)' || true
}

# The certificates that this machine trusts: a mirror or a proxy may have one of its own.
trust() {
	cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/" 2>/dev/null || true
}

# root_with ARGUMENT...: a minimal Debian 13, by mmdebstrap with these arguments too.
root_with() {
	mirror=$("$top/scripts/mirror.sh")
	printf 'making a clean root of Debian 13\n' >&2
	rm -rf --one-file-system "$dir.new"
	apt_access >"$dir.apt"
	alone mmdebstrap --quiet --variant=minbase \
		--aptopt='Acquire::Check-Valid-Until "false"' --aptopt="$dir.apt" "$@" \
		trixie "$dir.new" "deb $mirror trixie main" "deb $mirror trixie-backports main" ||
		die "no clean root: mmdebstrap failed"
	mv "$dir.new" "$dir"
}

# shellcheck disable=SC2016 # mmdebstrap's shell fills in the root's folder
make_root() {
	if [ -n "$package" ]; then
		root_with --skip=cleanup/apt \
			--customize-hook='chroot "$1" apt-get install -qq -y --download-only \
				--no-install-recommends qemu-system-x86 man-db >/dev/null'
	else
		root_with --include=ca-certificates,make \
			--customize-hook='chroot "$1" apt-get install -qq -y \
				--no-install-recommends -t trixie-backports cargo >/dev/null'
	fi
}

# What the run sees beside the root.
fill() {
	if [ -n "$package" ]; then
		mkdir -p "$1/root"
		cp "$package" "$1/root/pathmeter.deb"
		cp "$top/scripts/deb-test.sh" "$1/root/"
	else
		copy_checkout "$1/root/pathmeter"
	fi
}

# The checkout as it stands, without what git ignores.
copy_checkout() {
	mkdir -p "$1"
	git -C "$top" ls-files -z --cached --others --exclude-standard --deduplicate |
		(cd "$top" && tar -c --null --ignore-failed-read -T -) | tar -x -C "$1"
}

# Runs in the namespace, as its first process.
# shellcheck disable=SC2016 # this text is another shell's
inside='
	set -eu
	mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
	mount -t proc proc "$2/root/proc"
	mount --rbind /dev "$2/root/dev"
	cd /
	env -u CARGO_HOME -u CARGO_TARGET_DIR -u XDG_CACHE_HOME -u RUSTUP_HOME HOME=/root \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$2/root" /bin/sh -c "$3"
'

[ $# = 1 ] || [ $# = 2 ] || die "usage: clean-root.sh DIR [PACKAGE.deb]"
[ "$(id -u)" = 0 ] || die "only root can enter a root"
mkdir -p "$(dirname "$1")"
dir=$(realpath "$1")
package=
command='make -C /root/pathmeter run'
if [ $# = 2 ]; then
	package=$(realpath "$2")
	[ -e "$package" ] || die "no $package; make deb builds it"
	command='sh /root/deb-test.sh /root/pathmeter.deb'
fi

# Two runs may share DIR: the second waits.
exec 9>"$dir.lock"
flock 9
child=
trap end EXIT
trap 'exit 130' INT TERM
[ -d "$dir" ] || make_root
rm -rf --one-file-system "$dir.run"
mkdir -p "$dir.run/upper/etc/ssl/certs" "$dir.run/work" "$dir.run/root"
fill "$dir.run/upper"
cp -L /etc/resolv.conf /etc/hosts "$dir.run/upper/etc/" 2>/dev/null || true
trust "$dir.run/upper"
chmod 700 "$dir.run/upper/root"
alone sh -c "$inside" sh "$dir" "$dir.run" "$command"
