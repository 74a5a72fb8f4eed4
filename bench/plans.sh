#!/usr/bin/env bash
# What many cells cost: planning 100,000 of them, their status, and joining their results; and the
# throughput of 200 cells of the lab kernel beside as many bare measurements.
#
#   plans.sh PATHMETER [FOLDER]
#
# Everything happens in a temporary folder, below FOLDER if it is given, with a cache of its own.
# The 100,000 results are short ones, of two paths; what real ones add is reading and writing their
# bytes. Prints a line each: wall time, processor time, and the most memory resident.
set -euo pipefail
shopt -s inherit_errexit

die() {
	printf 'plans.sh: %s\n' "$*" >&2
	exit 1
}

[ $# = 1 ] || [ $# = 2 ] || die "usage: plans.sh PATHMETER [FOLDER]"
pathmeter=$(realpath "$1")
work=$(mktemp -d -p "${2:-${TMPDIR:-/tmp}}")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export XDG_CACHE_HOME=$work/cache
cd "$work"

# timed NAME COMMAND...
timed() {
	local name=$1
	shift
	local format="$name: %e s, %U + %S s of the processor, %M KiB"
	/usr/bin/time -f "$format" "$@" >printed || die "$name"
}

# 10 kernels x 10 CPUs x 1,000 conditions.
{
	printf 'subjects = ["lab"'
	for variant in short full-copy tracked; do
		printf ', "lab:iobitmap=%s", "lab:iobitmap=%s,getcpu=lsl"' "$variant" "$variant"
		printf ', "lab:iobitmap=%s,vendor=amd"' "$variant"
	done
	printf ']\ncpus = ["haswell", "skylake", "cascadelake", "icelake", "zen1", "zen2"'
	printf ', "plain", "max", "haswell-guest", "skylake-guest"]\nunder = ['
	for number in $(seq 1000); do printf '"boot:number=%d", ' "$number"; done
	printf ']\n'
} >many.toml

timed "planning" "$pathmeter" plan many.toml -o many.json --quiet
timed "the same from a warm cache" "$pathmeter" plan many.toml -o many.json --quiet

# A result of two paths, under each id; in four folders.
"$pathmeter" measure lab --perturb 1 --quiet -o whole.json >/dev/null
python3 - <<'END'
import hashlib, json, os

def sealed(document):
    """The document with its seal: docs/reference/results.md."""
    compact = dict(separators=(",", ":"), ensure_ascii=False)
    text = json.dumps(document, sort_keys=True, **compact)
    seal = hashlib.sha256(text.encode()).hexdigest()
    return json.dumps(document | {"seal": seal}, **compact) + "\n"

whole = json.load(open("whole.json"))
del whole["seal"]
whole["paths"] = whole["paths"][:2]
whole["guest"] = None
result = sealed(whole)
sha256 = hashlib.sha256(result.encode()).hexdigest()
for part in range(4):
    os.mkdir(f"part-{part}")
lists = [open(f"part-{part}/nodes-n{part}-1.jsonl", "w") for part in range(4)]
for number, cell in enumerate(json.load(open("many.json"))["cells"]):
    with open(f"part-{number % 4}/{cell['id']}.json", "w") as file:
        file.write(result)
    line = {"cell": cell["id"], "sha256": sha256, "node": f"n{number % 4}"}
    lists[number % 4].write(sealed(line))
END
timed "joining" "$pathmeter" plan merge part-* -o joined
cat printed
timed "status" "$pathmeter" plan status many.json --results joined
cat printed

# 200 cells, and the same measurements one by one, two at a time.
: >commands
for number in $(seq 8 57); do
	for variant in short full-copy tracked lazy; do
		printf 'lab:iobitmap=%s,max-cpus=%d\n' "$variant" "$number" >>commands
	done
done
{
	printf 'perturb = 1\nsubjects = ['
	while read -r subject; do printf '"%s", ' "$subject"; done <commands
	printf ']\n'
} >cells.toml
"$pathmeter" plan cells.toml -o cells.json --quiet
for round in ${ROUNDS:-1 2 3}; do
	timed "200 bare measurements, 2 at a time ($round)" xargs -P2 -I{} \
		"$pathmeter" measure {} --perturb 1 --no-cache --quiet <commands
	timed "200 cells, --jobs 2 ($round)" "$pathmeter" plan run cells.json --no-cache \
		--results "results-$round" --jobs 2 --quiet
done
