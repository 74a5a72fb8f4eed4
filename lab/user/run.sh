#!/bin/bash
# run.sh OUT short|long: boots the tests under every policy, and says of each boot what came of it.
#
# Boots with one CPU run under the instruction-counting clock, the others with parallel CPUs. The short
# form is CI's; the long one has more steps, forks and a minute of random system calls a boot.
set -u
out=$1 form=$2
qemu=${QEMU:-qemu-system-x86_64}
machine=microvm,x-option-roms=off,pit=on,pic=on,rtc=on,isa-serial=on,acpi=off
exact="-accel tcg -icount shift=0,sleep=off"
parallel="-accel tcg,thread=multi"
failed=0 boots=0

# boot CPUS CLOCK CPU SECONDS ARCHIVE WORDS: the console in $out/user/console
boot() {
	local cpus=$1 clock=$2 cpu=$3 seconds=$4 archive=$5 words=$6
	# shellcheck disable=SC2086
	timeout "$seconds" "$qemu" -M "$machine" -cpu "$cpu" -smp "$cpus" -m 128 $clock \
		-nodefaults -no-user-config -display none -no-reboot -serial stdio \
		-device isa-debug-exit,iobase=0xf4,iosize=4 \
		-kernel "$out/kernel.elf" -initrd "$archive" -append "$words" \
		>"$out/user/console" 2>&1 </dev/null
}

# check NAME PATTERN: the last boot's console must have a line that matches
check() {
	boots=$((boots + 1))
	if tr -d '\r' <"$out/user/console" | grep -qE "$2"; then
		printf 'ok    %s\n' "$1"
	else
		failed=$((failed + 1))
		printf 'FAIL  %s: no line matches %s\n' "$1" "$2"
		tail -n 40 "$out/user/console" | sed 's/^/  | /'
	fi
}

# tests CPUS CLOCK WORDS [CPU]
tests() {
	local cpus=$1 clock=$2 words=$3 cpu=${4:-max,-rdrand,-rdseed}
	boot "$cpus" "$clock" "$cpu" "$limit" "$out/user/tests.cpio" "$words $sizes"
	check "$cpus CPU, $cpu: ${words:-defaults}" '^all [0-9]+ tests passed'
}

if [ "$form" = long ]; then
	limit=900 sizes="test.steps=10000 test.forks=10000"
else
	limit=120 sizes=
fi

for words in "" iobitmap=full-copy iobitmap=tracked iobitmap=lazy \
	flags=save flags=constant flags=iopl-only flags=entry-clean \
	"irq-restore=popf" "irq-restore=sti-if" \
	getcpu=syscall getcpu=cpuid getcpu=lsl getcpu=rdtscp \
	"getcpu=lsl getcpu-cache=on" "getcpu=sidt umip=off" "getcpu=sgdt umip=off" \
	"getcpu=sldt umip=off" "getcpu=sidt umip=off getcpu-cache=on node-bits=2"; do
	tests 1 "$exact" "$words"
done
for words in "" iobitmap=full-copy iobitmap=tracked iobitmap=lazy "getcpu=sidt umip=off" \
	"getcpu=sgdt umip=off" "getcpu=sldt umip=off" "getcpu=cpuid getcpu-cache=on"; do
	tests 4 "$parallel" "$words"
done
# Intel's fast entry, whose exit restores no flags.
for words in "" flags=save flags=constant flags=iopl-only; do
	tests 1 "$exact" "$words" max,-rdrand,-rdseed,vendor=GenuineIntel
done

boot 1 "$exact" max 20 "$out/user/tests.cpio" "iobitmap=eager"
check "a wrong value lists the right ones" 'full-copy.*tracked.*lazy'
boot 1 "$exact" max 20 "$out/user/tests.cpio" "iobitmp=lazy"
check "a wrong name lists the right ones" 'iobitmap'
boot 1 "$exact" max 20 "$out/user/tests.cpio" "getcpu=rdpid"
check "rdpid, which the interpreter lacks, is refused" '^lab: unsupported here: .*rdpid'
boot 1 "$exact" max 20 "$out/user/tests.cpio" "getcpu=sidt"
check "sidt under UMIP is refused" '^lab: .*umip=off'
boot 1 "$exact" max 60 "$out/user/ioperm-latency.cpio" "iobitmap=full-copy"
check "ioperm-latency runs" '^port 0xffff too: +[0-9]+$'
boot 1 "$exact" max 60 "$out/user/flags-timer.cpio" ""
check "flags-timer runs" '^popf: +[0-9]+$'

fuzz() {
	boot "$1" "$parallel" max $((seconds + 60)) "$out/user/tests.cpio" "test.fuzz=$seconds test.seed=$2 $3"
	check "$1 CPU: random system calls for $seconds s, seed $2 $3" 'and the kernel lives$'
}
if [ "$form" = long ]; then seconds=60; else seconds=5; fi
fuzz 1 1 ""
fuzz 4 2 ""

printf '%d of %d boots ended as they should\n' $((boots - failed)) "$boots"
[ "$failed" = 0 ]
