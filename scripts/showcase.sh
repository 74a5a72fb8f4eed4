#!/bin/sh
# Measures Debian's kernels for cloud machines, from bullseye to sid, and writes what each step
# between releases cost.
#
#   showcase.sh -n FOLDER
#   showcase.sh PATHMETER FOLDER
#
# -n only lists them: package, version, bytes, and `step` where the kernel is at an end of a step.
# PATHMETER is the built command. FOLDER keeps packages, results, their history, the page, and what
# `explain` printed. The heat map and the tables of docs/evidence/kernels.md are written anew; its
# sentences are left alone. CPU is the profile to measure on; ONLY a pattern, as grep -E has them,
# of the packages to take. With either, map and tables are FOLDER/kernels.svg and FOLDER/kernels.md,
# since the sentences are about all kernels on the default CPU. DEBIAN_MIRROR and
# DEBIAN_SECURITY_MIRROR name other mirrors than apt's.
#
# Nothing is installed, and no privilege is needed. What is there already is not fetched again, and
# what pathmeter has in its cache is not measured again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cpu=${CPU:-skylake}
tables=$here/showcase.awk
page=$here/../docs/evidence/kernels.md
picture=$here/../docs/evidence/kernels.svg

# The paths of the table and of the heat map, in this order: the few that matter first.
paths='syscall.getppid file.read-zero file.open-close file.stat pipe.write-read
	unix.round-trip tcp.round-trip switch.yield switch.futex wake.switch memory.fault-anon
	process.fork-exit process.thread signal.deliver softirq.timer+idle softirq.net-rx'

# Tables are read here, so each row is one line.
export COLUMNS=0

suites='bullseye bookworm bookworm-backports trixie trixie-backports forky sid experimental'
security_suites='bullseye-security bookworm-security trixie-security'

die() {
	printf 'showcase.sh: %s\n' "$*" >&2
	exit 1
}

note() {
	printf 'showcase.sh: %s\n' "$*" >&2
}

# apt COMMAND ARGUMENT...: apt-get or apt-cache in a world of its own. The lists of an old release
# have no date that is still valid.
apt() {
	command=$1
	shift
	"$command" -qq -o Dir::Etc::SourceList="$work/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$work/lists" -o Dir::State::Status="$work/status" \
		-o Dir::Cache="$work/cache" -o Acquire::Check-Valid-Until=false \
		-o Acquire::Languages=none -o APT::Architecture=amd64 \
		-o APT::Architectures=amd64 -o APT::Sandbox::User=root "$@"
}

# sources: a line for each suite. One that a mirror lacks is left out by `update`.
sources() {
	mirror=$("$here/mirror.sh")
	security=${DEBIAN_SECURITY_MIRROR:-${mirror%/}-security}
	for suite in $suites; do
		printf 'deb [signed-by=%s] %s %s main\n' "$1" "$mirror" "$suite"
	done
	for suite in $security_suites; do
		printf 'deb [signed-by=%s] %s %s main\n' "$1" "$security" "$suite"
	done
}

update() {
	mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
	: >"$work/status"
	sources "$("$here/keyring.sh")" >"$work/sources.list"
	apt apt-get update >/dev/null || note 'not all package lists could be fetched'
}

# list: a line for each kernel, by version: package, version, bytes, name, branch and build.
list() {
	apt apt-cache dumpavail | awk -f "$tables" -v what=packages |
		grep -E -- "${ONLY:-.}" | sort -u | sort -s -k 4,4V | sort -s -k 2,2V
}

# ends: the kernels of a list at whose ends the steps are.
ends() {
	awk -f "$tables" -v what=ends
}

# fetch: all kernels of the list into FOLDER/kernels; prints the lines of those that are there.
fetch() {
	while read -r package rest; do
		file=$(file "$package")
		if [ -z "$file" ]; then
			(cd "$kernels" && apt apt-get download "$package" >/dev/null 2>&1) || true
			file=$(file "$package")
		fi
		if [ -n "$file" ]; then
			printf '%s %s\n' "$package" "$rest"
		else
			note "$package is in the lists, but not on the mirror: left out"
		fi
	done
}

# file PACKAGE: its file, if it is there.
file() {
	find "$kernels" -name "$1_*.deb" | head -n 1
}

# wishes: the file of a plan with a cell for each kernel of the list.
wishes() {
	printf 'cpus = ["%s"]\nsubjects = [\n' "$cpu"
	while read -r package _; do
		printf '\t"%s",\n' "$(file "$package")"
	done
	printf ']\n'
}

# run_plan: all of the list, on each processor of this machine, into the folder of cells. A path
# that could not be measured does not end it: the result says why.
run_plan() {
	wishes >"$work/plan.toml"
	plan=$work/plan.json jobs=$(nproc)
	if ! "$pathmeter" plan "$work/plan.toml" -o "$plan" --quiet ||
		! "$pathmeter" plan run "$plan" --results "$cells" --jobs "$jobs" >&2; then
		note 'not all kernels could be measured'
	fi
}

# named_results: a file for each result, by its kernel's name; prints the lines of those that have
# one.
named_results() {
	while read -r package version bytes name rest; do
		"$pathmeter" measure "$(file "$package")" --cpu "$cpu" --results "$cells" --quiet \
			-o "$results/$name.json" </dev/null >/dev/null 2>"$results/$name.log" ||
			note "$name: $(head -n 1 "$results/$name.log")"
		[ -e "$results/$name.json" ] || continue
		"$pathmeter" history add "$results/$name.json" --label "$name" \
			--db "$history" >/dev/null
		printf '%s %s %s %s %s\n' "$package" "$version" "$bytes" "$name" "$rest"
	done
}

# compared BASE NEW ARGUMENT...: a path that one of the two lacks, which makes its exit code 3, is
# no reason to end.
compared() {
	"$pathmeter" compare "$@" || [ $? = 3 ]
}

# values: the table of the step's kernels.
values() {
	# shellcheck disable=SC2086 # names of paths
	"$pathmeter" history show $paths --db "$history" |
		awk -f "$tables" -v what=values -v paths="$paths" "$work/ends" -
}

# pairs FILE: neighbours of a list: names, packages, and the steps' places in the page.
pairs() {
	awk '{ now = $6 == "-" ? $5 : $5 "-" $6 }
		NR > 1 { print name, $4, package, $1, before, now }
		{ name = $4; package = $1; before = now }' "$1"
}

# is_kept FILE: whether this build has written it already.
is_kept() {
	[ -e "$1" ] && [ -n "$(find "$1" -newer "$pathmeter")" ]
}

# sentence BASE_PACKAGE NEW_PACKAGE FILE: what a step comes to, with the causes; into FILE the page
# that begins with it.
sentence() {
	if ! is_kept "$3"; then
		compared "$(file "$1")" "$(file "$2")" --cpu "$cpu" --explain --quiet \
			</dev/null >"$work/explained" || note "no causes: $1, $2"
		mv "$work/explained" "$3"
	fi
	awk -f "$tables" -v what=sentence "$3"
}

# explain PATH BASE_PACKAGE NEW_PACKAGE FILE: what this build has explained already is kept.
explain() {
	! is_kept "$4" || return 0
	if "$pathmeter" explain "$1" "$(file "$2")" "$(file "$3")" --cpu "$cpu" --quiet --min 1 \
		</dev/null >"$work/explained"; then
		mv "$work/explained" "$4"
	else
		note "$1 can't be explained: $2, $3"
		: >"$4"
	fi
}

# step BASE NEW BASE_PACKAGE NEW_PACKAGE: what it comes to, and its largest changes, each with its
# functions. Of a path
# with several values `explain` shows a window of the most frequent one; if that differs in another
# way than the path does, the next path is taken.
step() {
	compared "$results/$1.json" "$results/$2.json" --format csv >"$work/step.csv"
	said=$(sentence "$3" "$4" "$explained/$1..$2.txt")
	awk -f "$tables" -v what=summary -v base="$1" -v new="$2" -v sentence="$said" \
		"$work/step.csv"
	awk -f "$tables" -v what=largest "$work/step.csv" >"$work/largest"
	taken=0 passed=
	while [ "$taken" -lt 3 ] && read -r path base new difference percent; do
		said=$explained/$1..$2..$path.txt
		explain "$path" "$3" "$4" "$said"
		functions=$(awk -f "$tables" -v what=functions -v difference="$difference" "$said")
		if [ -n "$functions" ]; then
			taken=$((taken + 1))
			# shellcheck disable=SC2016 # Markdown
			printf '| `%s` | %s | %s | %s | %s %% | %s |\n' "$path" "$base" "$new" \
				"$difference" "$percent" "$functions"
		else
			passed="$passed${passed:+, }\`$path\` $difference"
		fi
	done <"$work/largest"
	[ -z "$passed" ] || printf '\nPassed over: %s.\n' "$passed"
}

# patches: a row for each two neighbours of one branch and build.
patches() {
	printf '| from, to | more | less | largest change |\n|---|---|---|---|\n'
	awk '{ group = $5 " " $6 }
		group in before { print before[group], $4 }
		{ before[group] = $4 }' "$work/measured" |
		while read -r base new; do
			set -- "$results/$base.json" "$results/$new.json"
			compared "$@" >"$work/step.txt"
			compared "$@" --format csv >"$work/step.csv"
			awk -f "$tables" -v what=patch -v base="$base" -v new="$new" \
				"$work/step.txt" "$work/step.csv"
		done
}

# put NAME: stdin between the marks of that name in the page; in a page without sentences, after
# what is there.
put() {
	cat >"$work/part"
	if [ -n "$tables_alone" ]; then
		printf '%s\n' "$1" | sed '1s/ / → /; 1s/.*/\n## &\n/' >>"$page"
		cat "$work/part" >>"$page"
		return
	fi
	grep -qF "<!-- showcase: $1 -->" "$page" ||
		{ note "docs/evidence/kernels.md has no place for: $1" && return; }
	awk -f "$tables" -v what=put -v name="$1" -v part="$work/part" "$page" >"$work/page"
	cp "$work/page" "$page"
}

only_list=
[ "${1:-}" != -n ] || { only_list=yes && shift && set -- : "$@"; }
[ $# = 2 ] || die "usage: showcase.sh -n FOLDER, or showcase.sh PATHMETER FOLDER"
pathmeter=$1
for tool in apt-get dpkg-deb; do
	command -v "$tool" >/dev/null || die "no $tool here: this needs a Debian or Ubuntu"
done
mkdir -p "$2/kernels" "$2/result" "$2/cells"
folder=$(cd "$2" && pwd)
kernels=$folder/kernels results=$folder/result cells=$folder/cells
explained=$folder/explain/$cpu
history=$folder/history.sqlite work=$folder/apt
mkdir -p "$work" "$explained"

# Two runs may share FOLDER: the second waits.
exec 9>"$folder/.lock"
flock 9

update
list >"$work/list"
[ -s "$work/list" ] || die 'the package lists name no kernel for cloud machines'
if [ -n "$only_list" ]; then
	ends <"$work/list" >"$work/ends"
	awk -f "$tables" -v what=marked "$work/ends" "$work/list"
	exit
fi

fetch <"$work/list" >"$work/fetched"
rm -f "$history"
tables_alone=${ONLY:-}${CPU:-}
if [ -n "$tables_alone" ]; then
	page=$folder/kernels.md picture=$folder/kernels.svg
	printf '# What each step cost, on %s\n\n![Heat map](kernels.svg)\n' "$cpu" >"$page"
fi
note "$(wc -l <"$work/fetched") kernels, measured on $cpu by $("$pathmeter" --version)"
run_plan <"$work/fetched"
named_results <"$work/fetched" >"$work/measured"
ends <"$work/measured" >"$work/ends"

# The page records the kernels, so that its cells open the functions; the map needs results alone.
set --
while read -r package _; do
	set -- "$@" "$(file "$package")"
done <"$work/ends"
"$pathmeter" report "$@" --cpu "$cpu" --quiet -o "$folder/report.html" </dev/null ||
	note 'the page shows what failed'
set --
while read -r _ _ _ name _; do
	set -- "$@" "$results/$name.json"
done <"$work/ends"
only=$(printf '%s' "$paths" | tr -s ' \n\t' ',')
"$pathmeter" report "$@" -o "$picture" --relative-to before --only "$only" ||
	note 'the heat map shows what failed'

values | put values
pairs "$work/ends" >"$work/pairs"
while read -r base new base_package new_package place; do
	step "$base" "$new" "$base_package" "$new_package" | put "$place"
done <"$work/pairs"
patches | put patches
note "$picture and $page are renewed; the page is $folder/report.html"
