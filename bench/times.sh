#!/usr/bin/env bash
# What the method of times finds on this machine, and what it finds where nothing is, at rest and
# with every CPU loaded (docs/evidence/times.md). Takes some 20 minutes.
#
#   bench/times.sh
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --locked -p pathmeter-host --example method
method=${CARGO_TARGET_DIR:-target}/release/examples/method

# all HEADING: false alarms, then changes of known size.
all() {
	printf '\n== %s, load %s\n' "$1" "$(cut -d ' ' -f 1 /proc/loadavg)"
	printf -- '-- nothing changed, within processes\n'
	"$method" in 0 56 30 60
	printf -- '-- nothing changed, between processes\n'
	"$method" between 0 56 30 60
	printf -- '-- 3 rotations more, within processes\n'
	"$method" in 3 100 30 0 syscall.getppid file.stat switch.pipe
	printf -- '-- 6 rotations more, between processes\n'
	"$method" between 6 20 90 0 syscall.getppid file.stat
	printf -- '-- 900 rotations more, of a fork, within processes\n'
	"$method" in 900 20 30 0 process.fork-exit
}

all 'at rest'
busy=()
trap 'kill "${busy[@]}" 2>/dev/null || true' EXIT
for _ in $(seq "$(nproc)"); do
	while :; do :; done &
	busy+=($!)
done
sleep 30
all 'every CPU loaded'
