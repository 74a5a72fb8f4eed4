#!/usr/bin/env bash
# Fuzzes the readers of bytes from outside, each target for so long, one target a CPU.
#
#   fuzz/run.sh SECONDS [TARGET]...        all targets in src/bin/ if none is named
#
# What was found worth trying again is kept in corpus/, and the next run begins with it. Input that
# made a target panic, hang or eat memory is kept in crashes/; it is tried first, and so fails every
# run, until the cause is fixed.
set -euo pipefail
cd "$(dirname "$0")"

programs=${CARGO_TARGET_DIR:-target}/x86_64-unknown-linux-gnu/release
seconds=${1:?'usage: fuzz/run.sh SECONDS [TARGET]...'}
shift

# fuzz TARGET: prints what was covered, or what failed and how to see it again.
fuzz() {
	local program=$programs/$1 log=$programs/$1.log input
	mkdir -p "corpus/$1" "crashes/$1"
	if "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
		-artifact_prefix="crashes/$1/" "corpus/$1" "crashes/$1" "seeds/$1" \
		>"$log" 2>&1; then
		# Without coverage libFuzzer guesses on, and calls that done.
		sed -n "s/^#\([0-9]*\)\tDONE *cov: \([0-9]*\).*/$1: \1 inputs, \2 edges covered/p" \
			"$log" | grep . && return
		printf 'fuzz/run.sh: %s was compiled without the flags of .cargo/config.toml\n' \
			"$1" >&2
		return 1
	fi
	tail -n 40 "$log" >&2
	input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
	printf 'fuzz/run.sh: %s failed; ' "$1" >&2
	if [ -n "$input" ]; then
		printf 'to see it again: (cd fuzz && %s %s)\n' "$program" "$input" >&2
	else
		printf 'its whole output is in %s\n' "$(realpath "$log")" >&2
	fi
	return 1
}

targets() {
	if [ $# -gt 0 ]; then
		printf '%s\n' "$@"
	else
		basename -s .rs src/bin/*.rs
	fi
}

# They would replace the flags of .cargo/config.toml.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
cargo build --release --locked --quiet
export programs seconds
export -f fuzz
targets "$@" | xargs -P "$(nproc)" -I TARGET bash -euc 'fuzz TARGET'
