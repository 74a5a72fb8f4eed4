#!/usr/bin/env bash
# Takes the measurement "sums" of docs/guide/own-programs.md: executes programs under `pathmeter
# run`, and checks in each document, run by run, that the rows add up to the guest's clock less what
# was idle. Prints a table in Markdown; progress goes to stderr.
#
#   own-programs.sh PATHMETER KERNEL...
#
# KERNEL is a kernel image. A program that this machine lacks is skipped, and named after the table.
# redis-server, redis-cli and redis-benchmark are taken from PATH, or from REDIS, a folder in which
# their packages are unpacked. QEMU, if set, is the QEMU to use.
set -euo pipefail
shopt -s inherit_errexit

die() {
	printf 'own-programs.sh: %s\n' "$*" >&2
	exit 1
}

[ $# -ge 2 ] || die "usage: own-programs.sh PATHMETER KERNEL..."
pathmeter=$(realpath "$1")
shift
bench=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# Nothing is measured already, but a kernel's symbols are read once only.
export XDG_CACHE_HOME=$work/cache
options=(--quiet --timeout 600)
[ -z "${QEMU-}" ] || options+=(--qemu "$QEMU")
skipped=()
wrong=0

readonly SQL="create table t(a integer primary key, b text);
	with recursive n(i) as (select 1 union all select i + 1 from n where i < 200)
	insert into t select i, hex(i) from n;
	select sum(a), max(b) from t;"
# shellcheck disable=SC2016 # The dollar is awk's.
readonly PIPELINE='busybox seq 1 500 | busybox sort -rn |
	busybox awk "{ s += \$1 } END { print s }" | busybox md5sum'

# number VALUE: with a comma before each three digits.
number() {
	sed -E ':again; s/^([0-9]+)([0-9]{3})/\1,\2/; t again' <<<"$1"
}

# sums DOCUMENT: for each run a line: clock, idle, rows, and the sum of the rows' steps.
sums() {
	grep -oE '"(clock|idle|steps)":[0-9]+' "$1" | tr -d '"' | awk -F : '
		function line() { if (clock != "") print clock, idle, rows, sum }
		$1 == "clock" { line(); clock = $2; rows = sum = 0 }
		$1 == "idle" { idle = $2 }
		$1 == "steps" { rows++; sum += $2 }
		END { line() }'
}

# release_of DOCUMENT: of its kernel.
release_of() {
	grep -oE '"release":"[^"]*"' "$1" | head -n 1 | cut -d '"' -f 4
}

# row NAME KERNEL ARGUMENT...: runs a program, and prints its row of the table.
row() {
	local name=$1 kernel=$2 runs=0 good=0 clock idle rows sum first='' least='' most=0
	shift 2
	printf '%s on %s\n' "$name" "$(basename "$kernel")" >&2
	if ! "$pathmeter" run "${options[@]}" --json -o "$work/result.json" "$kernel" "$@" \
		>/dev/null 2>"$work/errors"; then
		printf '| %s | %s | no result: %s |||||\n' "$name" "$(basename "$kernel")" \
			"$(head -n 1 "$work/errors")"
		wrong=1
		return
	fi
	sums "$work/result.json" >"$work/sums"
	rm -f "$XDG_CACHE_HOME"/pathmeter/*.snapshot
	while read -r clock idle rows sum; do
		[ $runs != 0 ] || first="$rows | $(number "$sum") | $(number "$idle")"
		runs=$((runs + 1))
		[ "$sum" != $((clock - idle)) ] || good=$((good + 1))
		if [ $runs -gt 1 ]; then
			least=$((least == 0 || sum < least ? sum : least))
			most=$((sum > most ? sum : most))
		fi
	done <"$work/sums"
	[ $good = $runs ] || wrong=1
	printf '| %s | %s | %s | %s…%s | %s of %s |\n' "$name" \
		"$(release_of "$work/result.json")" \
		"$first" "$(number "$least")" "$(number "$most")" "$good" "$runs"
}

# on_all NAME PROGRAM-THAT-IS-NEEDED ARGUMENT...
on_all() {
	local name=$1 needed=$2 kernel
	shift 2
	if ! command -v "$needed" >/dev/null; then
		skipped+=("$name: no $needed")
		return
	fi
	for kernel in "${kernels[@]}"; do
		row "$name" "$kernel" "$@"
	done
}

# build NAME SOURCE FLAG...: compiles a program; where that fails, it is missing.
build() {
	local name=$1 source=$2
	shift 2
	cc -O2 -o "$work/$name" "$bench/$source" "$@" 2>/dev/null || true
}

redis() {
	local program arguments=() folder=${REDIS:+$REDIS/usr/lib/x86_64-linux-gnu}
	for program in redis-server redis-cli redis-benchmark; do
		arguments+=(--file "$(PATH=${REDIS:+$REDIS/usr/bin:}$PATH command -v $program || \
			echo $program):/usr/bin/$program")
	done
	[ -z "$folder" ] || arguments+=(--file "$folder:/usr/lib/x86_64-linux-gnu")
	PATH=${REDIS:+$REDIS/usr/bin:}$PATH on_all 'redis-server and redis-benchmark' redis-server \
		"${arguments[@]}" --file "$(command -v sleep)" -- "$bench/redis.sh"
}

kernels=("$@")
build lat-syscall lat-syscall.c
build threads threads.c -pthread
build ioctl-loop32 ../programs/ioctl-loop.c -m32 -nostdlib -ffreestanding \
	-fno-stack-protector -fno-pie -no-pie -static -I"$bench/../include"
python=$(PATH=/usr/bin:$PATH command -v python3 || echo python3)
library=$("$python" -c 'import os; print(os.path.dirname(os.__file__))' 2>/dev/null || true)

printf '| program | kernel | rows | first run: sum | idle | later runs: sum |'
printf ' sum = clock − idle |\n|---|---|---|---|---|---|---|\n'
on_all 'ls -R /' ls -- ls -R /
on_all 'sqlite3 in memory' sqlite3 -- sqlite3 :memory: "$SQL"
on_all 'python3 -c pass' "$python" ${library:+--file "$library"} -- "$python" -c pass
redis
on_all 'perf bench sched pipe -l 1000' perf -- perf bench sched pipe -l 1000
on_all 'perf bench syscall basic -l 1000' perf -- perf bench syscall basic -l 1000
on_all "lmbench's loop, 1,000 times" "$work/lat-syscall" -- "$work/lat-syscall" 1000
on_all 'busybox: seq, sort, awk, md5sum' busybox -- busybox sh -c "$PIPELINE"
on_all 'four threads and a lock' "$work/threads" -- "$work/threads"
on_all 'ioctl-loop, 32 bits' "$work/ioctl-loop32" -- "$work/ioctl-loop32"

for what in "${skipped[@]+"${skipped[@]}"}"; do
	printf '\nskipped: %s\n' "$what"
done
exit $wrong
