#!/bin/bash
# run.sh OUT core|whole|long: boots the tests under every boot-time variant, and reports the outcome
# of each boot. With QEMU=PROGRAM by that QEMU.
#
# Boots with one CPU run under the instruction-counting clock, the others with parallel CPUs; two
# boots at a time. The core form is that of every change: all tests on the kernel as it is, and of a
# variant those of what the variant changes. The whole form runs all tests under each variant, also
# with CPUs in parallel; the long one has more steps and forks, and a minute of random system calls
# a boot.
set -u
out=$1 form=$2
kernel=$out/kernel.elf
qemu=${QEMU:-qemu-system-x86_64}
machine=microvm,x-option-roms=off,pit=on,pic=on,rtc=on,isa-serial=on,acpi=off
exact="-accel tcg -icount shift=0,sleep=off"
parallel="-accel tcg,thread=multi"
at_once=2

if [ "$form" = long ]; then
	limit=1800 fuzz_seconds=60 sizes="test.steps=10000 test.forks=10000 test.raises=1000000"
else
	limit=240 fuzz_seconds=5 sizes=
fi
console=$(mktemp -d) || exit 1
trap 'rm -rf "$console"' EXIT
boots=0

# boot NAME PATTERN CPUS CLOCK CPU SECONDS PROGRAM WORDS: the console must have a line that matches
boot() {
	local file=$console/$boots
	# shellcheck disable=SC2086 # the clock is several words
	timeout "$6" "$qemu" -M "$machine" -cpu "$5" -smp "$3" -m 128 $4 \
		-nodefaults -no-user-config -display none -no-reboot -serial stdio \
		-device isa-debug-exit,iobase=0xf4,iosize=4 \
		-kernel "$kernel" -initrd "$out/user/$7.cpio" -append "$8" \
		>"$file" 2>&1 </dev/null
	if tr -d '\r' <"$file" | grep -qE "$2"; then
		printf 'ok    %s\n' "$1"
		touch "$file.ok"
	else
		printf 'FAIL  %s: no line matches %s\n%s\n' "$1" "$2" \
			"$(tail -n 40 "$file" | sed 's/^/  | /')"
	fi
}

# launch_as COMMAND ARGUMENTS: in the background, as soon as fewer than $at_once are
launch_as() {
	while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do
		wait -n
	done
	boots=$((boots + 1))
	"$@" &
}

launch() {
	launch_as boot "$@"
}

# Only in the long form.
long() {
	[ "$form" != long ] || "$@"
}

# In all forms but the core one.
whole() {
	[ "$form" = core ] || "$@"
}

# variant GROUP WORDS [CPU]: with one CPU; in the core form the tests of this group alone
variant() {
	local only=
	[ "$form" != core ] || only=" test.only=$1"
	tests 1 "$exact" "$2$only" "${@:3}"
}

# tests CPUS CLOCK WORDS [CPU]
tests() {
	local cpu=${4:-max,-rdrand,-rdseed} clocked='' name=''
	[ "$2" = "$exact" ] && clocked=test.exact=1
	[ "$kernel" = "$out/kernel.elf" ] || name=", locks checked"
	launch "$1 CPU$name, $cpu: ${3:-defaults}" '^all [0-9]+ tests passed$' \
		"$1" "$2" "$cpu" "$limit" tests "$3 $sizes $clocked"
}

# prints NAME PATTERN PROGRAM WORDS
prints() {
	launch "$1" "$2" 1 "$exact" max 60 "$3" "$4"
}

# interprets FEATURE: whether this QEMU's interpreter has that feature of the CPU
interprets() {
	echo quit | "$qemu" -M "$machine" -accel tcg -cpu "max,$1=on,enforce" -nodefaults \
		-no-user-config -display none -S -monitor stdio >/dev/null 2>&1
}

# fuzz CPUS SEED WORDS
fuzz() {
	launch "$1 CPU: random system calls for $fuzz_seconds s, seed $2 $3" \
		'and the kernel lives$' \
		"$1" "$parallel" max $((fuzz_seconds + 120)) tests \
		"test.fuzz=$fuzz_seconds test.seed=$2 $3"
}

# other_side KIND PLACE CONSOLE: 1,000 packets to the machine, as soon as it serves
other_side() {
	for _ in {1..600}; do
		grep -qs '^network: serving' "$3" && break
		sleep 0.1
	done
	"$out/user/host/network" "$1" "$2" 1000 ||
		{ printf 'FAIL  the other side of %s\n' "$1"; false; }
}

# exchange NAME KIND CPUS CLOCK WORDS: the machine must have seen just what the other side sent
exchange() {
	local card place expected clocked=''

	[ "$4" = "$exact" ] && clocked=test.exact=1
	expected=$("$out/user/host/network" expected "$2" 1000)
	if [ "$2" = udp ]; then
		place=$("$out/user/host/network" port)
		card="user,id=n,ipv6=off,hostfwd=udp:127.0.0.1:$place-:7"
	else
		place=$console/network$boots
		mkdir "$place"
		card="dgram,id=n,local.type=unix,local.path=$place/card"
		card+=",remote.type=unix,remote.path=$place/host"
	fi
	other_side "$2" "$place" "$console/$boots" &
	boot "$1" "^$expected\$" "$3" "$4 -netdev $card -device virtio-net-device,netdev=n
		-global virtio-mmio.force-legacy=false" max 120 tests "$5 $clocked test.serve=1001"
	wait $! || rm -f "$console/$boots.ok"
}

# network KIND CPUS CLOCK WORDS
network() {
	launch_as exchange "$2 CPU: 1,000 packets come back, $1 ${4:-defaults}" "$@"
}

tests 1 "$exact" ""
for words in iobitmap=short iobitmap=full-copy iobitmap=tracked; do
	variant ports. "$words"
done
for words in flags=save flags=constant flags=iopl-only \
	irq-restore=popf "flags=iopl-only irq-restore=popf"; do
	variant flags. "$words"
done
for words in getcpu=syscall getcpu=cpuid getcpu=rdtscp "getcpu-mode=on getcpu-cache=on" \
	"getcpu=lsl getcpu-cache=on" "getcpu=sidt umip=off" "getcpu=sgdt umip=off" \
	"getcpu=sldt umip=off" "getcpu=sidt umip=off getcpu-cache=on node-bits=2"; do
	variant getcpu. "$words"
done
tests 4 "$parallel" ""
for words in iobitmap=tracked "getcpu=sidt umip=off"; do
	whole tests 4 "$parallel" "$words"
done
for words in iobitmap=short iobitmap=full-copy "getcpu=sgdt umip=off" "getcpu=sldt umip=off" \
	"getcpu=cpuid getcpu-cache=on"; do
	long tests 4 "$parallel" "$words"
done
# Four CPUs on nodes of their own, and on two.
for words in getcpu=syscall "getcpu=lsl getcpu-cache=on" "getcpu=rdtscp getcpu-mode=on" \
	"getcpu=cpuid getcpu-cache=on" "getcpu=sidt umip=off" "getcpu=sgdt umip=off" \
	"getcpu=sldt umip=off"; do
	tests 4 "$parallel" "$words node-bits=2 test.only=getcpu."
done
tests 4 "$parallel" "getcpu=sidt umip=off node-bits=1 test.only=getcpu."
# Intel's fast entry, whose exit restores no flags. Without SMAP its clac does not clear AC.
for words in "" flags=save flags=constant flags=iopl-only; do
	variant compat. "$words" max,-rdrand,-rdseed,vendor=GenuineIntel
	tests 1 "$exact" "$words smap=off test.only=compat." max,-rdrand,-rdseed,vendor=GenuineIntel
done
whole tests 2 "$exact" ""
# Softirqs: which code runs them, and what an idle CPU checks. Polling fills its time with
# instructions.
for words in softirq=syscall-return softirq=irq-once softirq=irq-return softirq=thread; do
	variant softirq. "$words"
	long tests 2 "$parallel" "$words"
	for idle in idle-check=off idle=poll "idle=poll idle-check=off"; do
		tests 1 "$exact" "$words $idle test.only=softirq.idle"
	done
done
tests 1 "$exact" "softirq=irq-return idle-check=early test.only=softirq.idle"
tests 1 "$exact" "softirq=irq-once idle-check=off test.only=softirq."
tests 1 "$exact" "softirq=irq-once idle-check=off test.only=link."
tests 1 "$exact" "softirq=irq-once idle-check=off tick-check=off test.only=link."
whole tests 2 "$parallel" softirq=irq-exit
tests 1 "$exact" "idle=poll test.only=softirq.idle"

# ioctl: the lock, the table, registering under load.
for words in ioctl=bkl compat-ioctl=hash-bkl compat-ioctl=hash-unlocked compat-ioctl=hash-bare \
	compat-ioctl=flag \
	"ioctl=bkl compat-ioctl=flag" "ioctl=bkl compat-ioctl=hash-bkl compat-ioctl-collisions=40" \
	"compat-ioctl=hash-unlocked compat-ioctl-collisions=40 compat-ioctl-handlers=4096"; do
	tests 1 "$exact" "$words test.only=ioctl."
	long tests 2 "$exact" "$words test.only=ioctl."
	whole tests 4 "$parallel" "$words test.only=ioctl."
done
for words in compat-ioctl=hash-unlocked "ioctl=bkl compat-ioctl=hash-bkl" compat-ioctl=entry; do
	tests 4 "$parallel" "$words test.ioctl-churn test.only=ioctl."
done
prints "two drivers can't have one number" '^lab: ioctl 0x80144c01 .*labtwin.*EBUSY' \
	tests "compat-ioctl=hash-bkl test.only=ioctl.twin"
prints "and can without a table" '^all 1 tests passed' tests test.only=ioctl.twin
# A kernel that checks the order of its locks; its costs mean nothing.
kernel=$out/debug/kernel.elf
whole tests 1 "$parallel" ""
tests 4 "$parallel" ""
tests 4 "$parallel" "ioctl=bkl compat-ioctl=hash-unlocked test.ioctl-churn test.only=ioctl."
prints "locks taken the wrong way round are told" \
	'^panic: lock order: &tree_lock .* is taken while &tasks_lock .* is held' \
	tests test.lock-order
kernel=$out/kernel.elf

prints "a wrong value lists the right ones" 'short.*full-copy.*tracked.*lazy' tests iobitmap=eager
prints "a wrong name lists the right ones" 'iobitmap' tests iobitmp=lazy
launch "rdpid is refused on a CPU without it" '^lab: unsupported here: .*rdpid' \
	1 "$exact" max,-rdpid 60 tests getcpu=rdpid
if interprets rdpid; then
	tests 1 "$exact" getcpu=rdpid
	tests 1 "$exact" "getcpu=rdpid getcpu-cache=on node-bits=2"
	tests 4 "$parallel" getcpu=rdpid
else
	echo "--    no getcpu=rdpid: this QEMU's interpreter has no rdpid"
fi
prints "sidt under UMIP is refused" '^lab: .*umip=off' tests getcpu=sidt
prints "sidt without room is refused" '^lab: unsupported here: getcpu=sidt: .* 61440 .* 65536' \
	tests "getcpu=sidt umip=off node-bits=3 max-cpus=8192"
prints "a mode names no sidt" '^lab: unsupported here: getcpu=sidt: .*getcpu-mode' \
	tests "getcpu=sidt umip=off getcpu-mode=on"
tests 1 "$exact" "getcpu=sidt umip=off node-bits=3 max-cpus=7680 test.only=getcpu."
prints "ioperm-latency runs" '^port 0xffff too: +[0-9]+$' ioperm-latency iobitmap=full-copy
prints "flags-timer runs" '^popf: +[0-9]+$' flags-timer ""
# The network: QEMU's own, and frames of every badness.
network frames 1 "$exact" ""
network frames 2 "$parallel" ""
for words in softirq=syscall-return softirq=irq-once softirq=irq-return softirq=thread; do
	whole network frames 1 "$exact" "$words"
	whole network frames 2 "$parallel" "$words"
done
network udp 1 "$exact" ""
network udp 2 "$parallel" ""
kernel=$out/debug/kernel.elf
network frames 2 "$parallel" ""
kernel=$out/kernel.elf
prints "a wrong place of a device is refused" '^lab: bad command line: virtio_mmio' \
	tests virtio_mmio.device=512@0x1000:12
fuzz 1 1 ""
whole fuzz 4 2 ""
wait

passed=$(find "$console" -name '*.ok' | wc -l)
printf '%d of %d boots ended as they should\n' "$passed" "$boots"
[ "$passed" = "$boots" ]
