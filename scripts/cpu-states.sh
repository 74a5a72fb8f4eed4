#!/bin/sh
# What does a kernel say about each CPU profile's vulnerabilities? Prints a table of all lines;
# docs/reference/cpu.md sums it up.
#
#   cpu-states.sh PATHMETER KERNEL [QEMU]
#
# Every profile that QEMU (default: the one on PATH) can have is booted by `pathmeter measure`, with
# everything as when it measures, but with another init, which prints the files of
# /sys/devices/system/cpu/vulnerabilities. A wrapper around QEMU puts that init in place of the
# agent. The table has a row for each state but "Not affected", and the profiles that show it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

die() {
	printf 'cpu-states.sh: %s\n' "$*" >&2
	exit 1
}

# The wrapper: the arguments of a boot name the initramfs and the console's channel.
wrapper() {
	cat <<'END'
#!/bin/bash
words=()
for word in "$@"; do
	case $word in
	/proc/self/fd/7) word=$STATES/initramfs ;;
	socket,id=console,fd=4) word=file,id=console,path=$STATES/console ;;
	esac
	words+=("$word")
done
exec "$STATES_QEMU" "${words[@]}"
END
}

# states PROFILE: lines `FILE: STATE`.
states() {
	: >"$STATES/console"
	"$pathmeter" measure "$kernel" --cpu "$1" --qemu "$STATES/qemu" --no-cache --quiet \
		>/dev/null 2>"$STATES/log" || true
	grep -q '^state end' "$STATES/console" || {
		cat "$STATES/log" >&2
		die "$1 did not boot to its end"
	}
	tr -d '\r' <"$STATES/console" | sed -n 's/^state \(.*: .*\)$/\1/p'
}

# profiles: the names of those that QEMU can have.
profiles() {
	"$pathmeter" doctor --json --qemu "$STATES_QEMU" | tr -d ' \n' | tr '{' '\n' |
		sed -n 's/^"name":"\([a-z0-9-]*\)","machine":.*"available":true.*/\1/p'
}

[ $# = 2 ] || [ $# = 3 ] || die "usage: cpu-states.sh PATHMETER KERNEL [QEMU]"
pathmeter=$1 kernel=$2
STATES_QEMU=${3:-$(command -v qemu-system-x86_64)} || die "there is no qemu-system-x86_64 on PATH"
STATES=$(mktemp -d)
export STATES STATES_QEMU
trap 'rm -rf "$STATES"' EXIT
${CC:-cc} -O1 -static -Wall -o "$STATES/init" "$here/cpu-states/init.c"
(cd "$STATES" && echo init | cpio -o -H newc --quiet >initramfs)
wrapper >"$STATES/qemu"
chmod +x "$STATES/qemu"

for profile in $(profiles); do
	states "$profile" >"$STATES/one"
	sed "s/^/$profile /" "$STATES/one" >>"$STATES/all"
done
printf '| file | state | profiles |\n|---|---|---|\n'
awk '{
	profile = $1
	sub(/^[^ ]* /, "")
	if ($0 ~ /^[a-z0-9_]+: Not affected$/)
		next
	if (!($0 in shown)) {
		order[++rows] = $0
		shown[$0] = profile
	} else
		shown[$0] = shown[$0] ", " profile
}
END {
	for (row = 1; row <= rows; row++) {
		at = index(order[row], ": ")
		file = substr(order[row], 1, at - 1)
		print "| " file " | " substr(order[row], at + 2) " | " shown[order[row]] " |"
	}
}' "$STATES/all" | sort -s -t '|' -k 2,2
