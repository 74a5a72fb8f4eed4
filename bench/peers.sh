#!/usr/bin/env bash
# Times of the paths that lmbench and perf bench have too, by all three, side by side.
#
#   peers.sh PATHMETER [LMBENCH]
#
# LMBENCH is the folder of lmbench's programs (lat_syscall and others), which repeat each
# measurement five times in a run; without it perf bench alone is run, if there is one. Everything
# is on one CPU. In each of ROUNDS rounds every tool is run once, by turns forwards and backwards,
# so that whatever else the machine does meets all alike. Printed are, for each path and tool, the
# median of the rounds in nanoseconds, the spread (all rounds, and the middle half of them, as
# shares of the median) and the time that a run takes. A run of pathmeter has all paths. Progress
# goes to stderr.
set -euo pipefail
shopt -s inherit_errexit

readonly ROUNDS=${ROUNDS:-10}
readonly PATHS=syscall.getppid,file.read-zero,file.write-null,file.stat,file.fstat,file.open-close,\
signal.install,signal.deliver,select.10,switch.pipe,unix.round-trip,process.fork-exit,\
process.fork-exec

[ $# = 1 ] || [ $# = 2 ] || { printf 'usage: peers.sh PATHMETER [LMBENCH]\n' >&2; exit 1; }
pathmeter=$(realpath "$1") lmbench=${2:+$(realpath "$2")}
work=$(mktemp -d)
cpu=$(($(nproc) - 1))
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"
printf 'a file' >file
# lat_proc executes a program of this name.
if [ -n "$lmbench" ] && [ ! -e /tmp/hello ]; then
	cp "$lmbench/hello" /tmp/hello
	trap 'rm -rf "$work" /tmp/hello' EXIT
fi

# timed TOOL NAME COMMAND...: its output, then the seconds that it took, in files of its own.
timed() {
	local tool=$1 name=$2 begun=${EPOCHREALTIME/./}
	shift 2
	taskset -c "$cpu" "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2; return 0; }
	printf '%d\n' $((${EPOCHREALTIME/./} - begun)) >>"$work/seconds.$tool.$name"
	nanoseconds "$tool" "$name" <"$work/out"
}

# What a tool printed, as lines of `path tool nanoseconds`.
nanoseconds() {
	case $1 in
	pathmeter) awk '$2 ~ /^[0-9]/ { gsub(",", "", $2); print $1, "pathmeter", $2 }' ;;
	perf) awk -v path="$2" '/usecs\/op/ { print path, "perf", $1 * 1000 }' ;;
	lmbench) awk -v path="$2" '/microseconds/ { print path, "lmbench", $(NF - 1) * 1000 }' ;;
	esac >>"$work/times"
}

# of_lmbench PATH PROGRAM ARGS...
of_lmbench() {
	[ -z "$lmbench" ] || [ ! -x "$lmbench/$2" ] ||
		timed lmbench "$1" "$lmbench/$2" -N 5 "${@:3}"
}

of_perf() {
	! command -v perf >/dev/null || timed perf "$1" perf bench "${@:2}"
}

of_pathmeter() {
	timed pathmeter all "$pathmeter" host --pin "$cpu" --only "$PATHS" -q
}

runs=(
	'of_pathmeter'
	'of_perf syscall.getppid syscall basic -l 2000000'
	'of_perf switch.pipe sched pipe -l 50000'
	'of_lmbench syscall.getppid lat_syscall null'
	'of_lmbench file.read-zero lat_syscall read'
	'of_lmbench file.write-null lat_syscall write'
	'of_lmbench file.stat lat_syscall stat file'
	'of_lmbench file.fstat lat_syscall fstat file'
	'of_lmbench file.open-close lat_syscall open file'
	'of_lmbench signal.install lat_sig install'
	'of_lmbench signal.deliver lat_sig catch'
	'of_lmbench select.10 lat_select -n 10 file'
	'of_lmbench switch.pipe lat_pipe'
	'of_lmbench unix.round-trip lat_unix'
	'of_lmbench process.fork-exit lat_proc fork'
	'of_lmbench process.fork-exec lat_proc exec'
)

for round in $(seq "$ROUNDS"); do
	printf 'round %d of %d\n' "$round" "$ROUNDS" >&2
	for at in $(seq 0 $((${#runs[@]} - 1))); do
		[ $((round % 2)) = 0 ] || at=$((${#runs[@]} - 1 - at))
		read -ra words <<<"${runs[at]}"
		"${words[@]}"
	done
done

# seconds TOOL PATH: the median of its runs.
seconds() {
	local name=$2
	[ "$1" != pathmeter ] || name=all
	sort -n "$work/seconds.$1.$name" |
		awk '{ a[NR] = $1 } END { printf "%.2f", a[int((NR + 1) / 2)] / 1e6 }'
}

printf '| path | tool | ns | all rounds | middle half | s a run |\n'
printf '|---|---|--:|--:|--:|--:|\n'
# row PATH TOOL: of the sorted times in $work/sorted.
row() {
	awk -v path="$1" -v tool="$2" -v seconds="$(seconds "$2" "$1")" '
		{ a[NR] = $1 }
		END {
			median = (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2
			low = a[int((NR + 3) / 4)]
			high = a[NR + 1 - int((NR + 3) / 4)]
			all = 100 * (a[NR] - a[1]) / median
			middle = 100 * (high - low) / median
			form = "| `%s` | %s | %.1f | %.2f %% | %.2f %% | %s |\n"
			printf form, path, tool, median, all, middle, seconds
		}' "$work/sorted"
}

for path in ${PATHS//,/ }; do
	for tool in pathmeter perf lmbench; do
		awk -v path="$path" -v tool="$tool" \
			'$1 == path && $2 == tool { print $3 }' "$work/times" |
			sort -n >"$work/sorted"
		[ ! -s "$work/sorted" ] || row "$path" "$tool"
	done
done
