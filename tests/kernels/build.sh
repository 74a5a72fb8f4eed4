#!/bin/sh
# Build small Linux kernels to compare: OUTDIR/VARIANT.bzImage, and what it took.
#
#   build.sh OUTDIR [VARIANT...]        default: every variant that has a config/VARIANT.config
#
# Each variant is `base` with the lines of config/VARIANT.config laid over it. It starts from a
# copy of the base build, so it costs only the objects that the change touches. A variant whose
# inputs (configuration, source, compiler) are unchanged is not built again. An option that the
# kernel's headers depend on (devtmpfs, tracefs, ia32, net, ioport) rebuilds nearly everything.
# A variant may be several, joined by `+`: all their lines are laid over base.
#
# MORE names a folder with further changes of the source and other variants, as power/ is: its
# config/ takes the place of this one but for base, source/edits.sh makes its changes after the
# fixtures', and variants.sh lists its variants and checks what was built.
#
# Needs gcc, make, flex, bison, bc, libelf-dev, libssl-dev and the kernel source of Debian 12's
# linux-source-6.1, which scripts/linux-source.sh fetches (LINUX_SOURCE names the tar file). OUTDIR
# needs 2 GB and may not be moved between runs: objects name the source by its absolute path.
# Sources: Documentation/kbuild/{kconfig,reproducible-builds}.rst in the kernel.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tarball=${LINUX_SOURCE:-/usr/src/linux-source-6.1.tar.xz}
more=${MORE:-}
configs=${more:-$here}/config

die() {
	printf 'build.sh: %s\n' "$*" >&2
	exit 1
}

say() {
	printf '%s\n' "$*" >&2
}

# check_tools: name everything that is missing at once, and the packages it comes in.
check_tools() {
	for tool in gcc make flex bison bc; do
		command -v "$tool" >/dev/null ||
			die "no $tool; apt-get install gcc make flex bison bc"
	done
	[ -e /usr/include/gelf.h ] || die "no gelf.h; apt-get install libelf-dev"
	[ -e /usr/include/openssl/opensslv.h ] || die "no OpenSSL; apt-get install libssl-dev"
	[ -r "$tarball" ] || die "no $tarball; scripts/linux-source.sh fetches it"
}

hash() {
	sha256sum | cut -d' ' -f1
}

# Everything the source tree depends on, this script too, but for its comments.
source_inputs() {
	sha256sum <"$tarball"
	cat "$here"/source/*
	[ -z "$more" ] || cat "$more"/source/*
	sed '/^[[:space:]]*#/d' "$here/build.sh"
}

# config_of NAME: the file with its lines.
config_of() {
	case $1 in
	base) printf '%s\n' "$here/config/base.config" ;;
	*) printf '%s\n' "$configs/$1.config" ;;
	esac
}

# parts_of VARIANT: the names that `+` joins.
parts_of() {
	printf '%s\n' "$1" | tr + '\n'
}

# lines_of VARIANT: what is laid over base.
lines_of() {
	parts_of "$1" | while read -r part; do
		cat "$(config_of "$part")"
	done
}

# variant_inputs VARIANT: everything its image depends on.
variant_inputs() {
	printf '%s\n' "$source_stamp" "$out"
	gcc --version
	cat "$here/config/base.config"
	lines_of "$1"
}

# edit FILE SCRIPT: run SCRIPT of the folder $edits on FILE of the source tree; stop if it found no
# place there.
edit() {
	mv "$source/$1" "$source/$1.before"
	sed -f "$edits/$2" "$source/$1.before" >"$source/$1"
	if cmp -s "$source/$1" "$source/$1.before"; then
		die "$edits/$2 changes nothing in $1: is this another version of Linux?"
	fi
	rm "$source/$1.before"
}

# The fixtures. Each option of source/Kconfig changes nothing until it is set. All variants have the
# function that pathmeter_fixture.S defines, the bytes beside the system call's entry, and the
# padding after the configuration: with these, two variants differ in few bytes, and nothing moves.
add_fixtures() {
	edits=$here/source
	cp "$edits/Kconfig" "$source/Kconfig.fixtures"
	cp "$edits/dead_function.c" "$source/init/"
	cp "$edits/pathmeter_fixture.S" "$source/arch/x86/entry/"
	edit Kconfig Kconfig.sed
	edit init/Makefile init-Makefile.sed
	edit arch/x86/entry/Makefile entry-Makefile.sed
	edit arch/x86/entry/common.c common.c.sed
	edit arch/x86/entry/entry_64.S entry_64.S.sed
	edit include/asm-generic/vmlinux.lds.h vmlinux.lds.h.sed
	edit fs/stat.c stat.c.sed
	edit kernel/configs.c configs.c.sed
	edit kernel/softirq.c softirq.c.sed
	edit kernel/time/timer.c timer.c.sed
	edit kernel/time/tick-sched.c tick-sched.c.sed
}

# The source tree that all variants share, unpacked anew if anything about it changed.
prepare_source() {
	[ "$(cat "$source.stamp" 2>/dev/null)" = "$source_stamp" ] && return
	say "unpacking $tarball"
	rm -rf "$source" "$source.stamp" "$objects" "$base" "$base.stamp"
	mkdir -p "$source"
	tar -xf "$tarball" -C "$source" --strip-components=1
	add_fixtures
	if [ -n "$more" ]; then
		edits=$more/source
		add_more
	fi
	printf '%s\n' "$source_stamp" >"$source.stamp"
}

# kmake ARGUMENT...: the kernel's make, with nothing of this machine or minute in the image.
kmake() {
	make -s -C "$source" O="$objects" -j"$(nproc)" ARCH=x86_64 LOCALVERSION= \
		KBUILD_BUILD_TIMESTAMP=2020-01-01 KBUILD_BUILD_VERSION=1 \
		KBUILD_BUILD_USER=pathmeter KBUILD_BUILD_HOST=fixture "$@" >"$out/log" 2>&1 ||
		die "make $* failed: $(tail -n 3 "$out/log") (more in $out/log)"
}

# configure VARIANT: lay its lines over those of base, all else off.
configure() {
	lines_of "$1" >"$objects/variant.config"
	cat "$here/config/base.config" "$objects/variant.config" >"$objects/wanted.config"
	kmake KCONFIG_ALLCONFIG="$objects/wanted.config" allnoconfig
	check_obeyed "$1" "$objects/variant.config"
}

# check_obeyed VARIANT LINES: kconfig drops in silence what it can't satisfy; this reports it.
check_obeyed() {
	awk '
	!/^(# )?CONFIG_/ { next }
	{ match($0, /CONFIG_[A-Za-z0-9_]+/); name = substr($0, RSTART, RLENGTH) }
	NR == FNR { wanted[name] = $0; next }
	{ got[name] = $0 }
	END {
		for (name in wanted) {
			absent = !(name in got) && wanted[name] ~ /^#/
			if (!absent && got[name] != wanted[name]) {
				print "build.sh: not obeyed by kconfig: " wanted[name]
				bad = 1
			}
		}
		exit bad
	}' "$2" "$objects/.config" >&2 || die "$1: fix these lines or what they depend on"
}

# build VARIANT: from the objects now in $objects to OUTDIR/VARIANT.bzImage.
build() {
	started=$(date +%s)
	mkdir -p "$objects"
	configure "$1"
	kmake bzImage
	[ -z "$more" ] || check_built "$1"
	cp "$objects/arch/x86/boot/bzImage" "$out/$1.bzImage.new"
	mv "$out/$1.bzImage.new" "$out/$1.bzImage"
	say "built $1 in $(($(date +%s) - started)) s"
}

# The base build, kept aside for the variants to start from.
prepare_base() {
	stamp=$(variant_inputs base | hash)
	[ "$(cat "$base.stamp" 2>/dev/null)" = "$stamp" ] && [ -e "$out/base.bzImage" ] && return
	rm -f "$base.stamp"
	build base
	rm -rf "$base"
	mv "$objects" "$base"
	printf '%s\n' "$stamp" >"$base.stamp"
}

# Every build runs in the same directory, since some of the kernel's tools note where they are.
prepare_variant() {
	stamp=$(variant_inputs "$1" | hash)
	[ "$(cat "$out/$1.stamp" 2>/dev/null)" = "$stamp" ] && [ -e "$out/$1.bzImage" ] && return
	rm -rf "$objects" "$out/$1.stamp"
	cp -a "$base" "$objects"
	build "$1"
	rm -rf "$objects"
	printf '%s\n' "$stamp" >"$out/$1.stamp"
}

all_variants() {
	for file in "$configs"/*.config; do
		basename "$file" .config
	done
}

[ $# -ge 1 ] || die "usage: build.sh OUTDIR [VARIANT...]"
if [ -n "$more" ]; then
	more=$(cd "$more" && pwd)
	configs=$more/config
	# shellcheck source=/dev/null
	. "$more/source/edits.sh"
	# shellcheck source=/dev/null
	. "$more/variants.sh"
fi
check_tools
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
source=$out/source
objects=$out/objects
base=$out/base-objects

# Two test runs may share OUTDIR: the second waits.
exec 9>"$out/lock"
flock 9

# Names hold no blanks: splitting them is meant.
# shellcheck disable=SC2046
[ $# -ge 1 ] || set -- $(all_variants)
for variant in "$@"; do
	for part in $(parts_of "$variant"); do
		[ -e "$(config_of "$part")" ] ||
			die "no variant $part; there are: $(all_variants | xargs)"
	done
done

source_stamp=$(source_inputs | hash)
prepare_source
prepare_base
for variant in "$@"; do
	[ "$variant" = base ] || prepare_variant "$variant"
done
