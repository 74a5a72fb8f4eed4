#!/bin/bash
# run.sh OUT short|long: boots the tests under every policy, and says of each boot what came of it.
#
# Boots with one CPU run under the instruction-counting clock, the others with parallel CPUs; two boots
# at a time. The short form is CI's; the long one has more steps and forks, and a minute of random
# system calls a boot.
set -u
out=$1 form=$2
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
		-kernel "$out/kernel.elf" -initrd "$out/user/$7.cpio" -append "$8" \
		>"$file" 2>&1 </dev/null
	if tr -d '\r' <"$file" | grep -qE "$2"; then
		printf 'ok    %s\n' "$1"
		touch "$file.ok"
	else
		printf 'FAIL  %s: no line matches %s\n%s\n' "$1" "$2" "$(tail -n 40 "$file" | sed 's/^/  | /')"
	fi
}

# As boot, in the background, as soon as fewer than $at_once are.
launch() {
	while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do
		wait -n
	done
	boots=$((boots + 1))
	boot "$@" &
}

# tests CPUS CLOCK WORDS [CPU]
tests() {
	local cpu=${4:-max,-rdrand,-rdseed} clocked=
	[ "$2" = "$exact" ] && clocked=test.exact=1
	launch "$1 CPU, $cpu: ${3:-defaults}" '^all [0-9]+ tests passed$' \
		"$1" "$2" "$cpu" "$limit" tests "$3 $sizes $clocked"
}

# says NAME PATTERN PROGRAM WORDS
says() {
	launch "$1" "$2" 1 "$exact" max 60 "$3" "$4"
}

# fuzz CPUS SEED WORDS
fuzz() {
	launch "$1 CPU: random system calls for $fuzz_seconds s, seed $2 $3" 'and the kernel lives$' \
		"$1" "$parallel" max $((fuzz_seconds + 120)) tests \
		"test.fuzz=$fuzz_seconds test.seed=$2 $3"
}

for words in "" iobitmap=full-copy iobitmap=tracked flags=save flags=constant flags=iopl-only \
	irq-restore=popf "flags=iopl-only irq-restore=popf" \
	getcpu=syscall getcpu=cpuid getcpu=rdtscp \
	"getcpu=lsl getcpu-cache=on" "getcpu=sidt umip=off" "getcpu=sgdt umip=off" \
	"getcpu=sldt umip=off" "getcpu=sidt umip=off getcpu-cache=on node-bits=2"; do
	tests 1 "$exact" "$words"
done
for words in "" iobitmap=full-copy iobitmap=tracked "getcpu=sidt umip=off" \
	"getcpu=sgdt umip=off" "getcpu=sldt umip=off" "getcpu=cpuid getcpu-cache=on"; do
	tests 4 "$parallel" "$words"
done
# Intel's fast entry, whose exit restores no flags.
for words in "" flags=save flags=constant flags=iopl-only; do
	tests 1 "$exact" "$words" max,-rdrand,-rdseed,vendor=GenuineIntel
done
tests 2 "$exact" ""
# Softirqs: who runs them, and what an idle CPU looks at. Polling fills its time with instructions.
for words in softirq=syscall-return softirq=irq-return softirq=thread; do
	tests 1 "$exact" "$words"
	tests 2 "$parallel" "$words"
	for idle in idle-check=off idle=poll "idle=poll idle-check=off"; do
		tests 1 "$exact" "$words $idle test.only=softirq.idle"
	done
done
tests 2 "$parallel" softirq=irq-exit
tests 1 "$exact" "idle=poll test.only=softirq.idle"

says "a wrong value lists the right ones" 'full-copy.*tracked.*lazy' tests iobitmap=eager
says "a wrong name lists the right ones" 'iobitmap' tests iobitmp=lazy
says "rdpid, which the interpreter lacks, is refused" '^lab: unsupported here: .*rdpid' \
	tests getcpu=rdpid
says "sidt under UMIP is refused" '^lab: .*umip=off' tests getcpu=sidt
says "ioperm-latency runs" '^port 0xffff too: +[0-9]+$' ioperm-latency iobitmap=full-copy
says "flags-timer runs" '^popf: +[0-9]+$' flags-timer ""
fuzz 1 1 ""
fuzz 4 2 ""
wait

passed=$(find "$console" -name '*.ok' | wc -l)
printf '%d of %d boots ended as they should\n' "$passed" "$boots"
[ "$passed" = "$boots" ]
