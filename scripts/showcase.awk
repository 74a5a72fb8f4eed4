# The text of showcase.sh: `what` names the table, and its function says what is read.
#
#   awk -f showcase.awk -v what=packages|ends|marked|values|sentence|summary|largest|functions|patch|put

BEGIN {
	# A change of fewer instructions is not among the largest ones.
	FLOOR = 20
	MOST = 3
	# Of these the step's changes are taken, and the first of them is a patch release's.
	CANDIDATES = 8
	if (what ~ /^(summary|largest|patch)$/)
		FS = ","
}

# `apt-cache dumpavail`: package, upstream version, bytes, name, branch and build of each kernel.
# What is small is an empty package that depends on the kernel's.
what == "packages" && /^Package: / {
	package = $2
}
what == "packages" && /^Version: / {
	version = $2
	sub(/-.*/, "", version)
}
what == "packages" && /^Size: / && $2 > 1000000 &&
package ~ /^linux-(image|binary)-[0-9].*-cloud-amd64$/ {
	name = package
	sub(/^linux-(image|binary)-/, "", name)
	sub(/-cloud-amd64$/, "", name)
	branch = version
	sub(/~.*/, "", branch)
	if (match(branch, /^[0-9]+\.[0-9]+/))
		branch = substr(branch, 1, RLENGTH)
	build = match(name, /deb[0-9]+/) ? substr(name, RSTART, RLENGTH) : "-"
	print package, version, $2, name, branch, build
}

# A sorted list: the newest kernel of each branch and build, in its order, without candidates and
# without builds of testing and unstable.
what == "ends" && $2 !~ /~/ && ($6 == "-" || $6 ~ /^deb1[0-3]$/) {
	group = $5 " " $6
	last[group] = NR
	line[NR] = $0
	of[NR] = group
}

# The ends, then the list.
what == "marked" && NR == FNR {
	is_end[$1] = 1
}
what == "marked" && NR != FNR {
	print $1, $2, $3 ($1 in is_end ? " step" : "")
}

# The ends, then what `history show` prints.
what == "values" && NR == FNR {
	kernels[++kernel_count] = $4
	shown[$4] = index($4, $2) == 1 ? $4 : $2 " (" $4 ")"
}
what == "values" && NR != FNR {
	sub(/^ +/, "")
	fields = split($0, field, /  +/)
	if (FNR == 1)
		for (at = 1; at <= fields; at++)
			heading[at] = field[at]
	else
		for (at = 1; at < fields; at++)
			value[field[fields], heading[at]] = field[at]
}

# For patches first what `compare` prints, of which paths have several values.
what == "patch" && NR == FNR {
	split($0, field, /  +/)
	if (field[2] field[3] ~ /~/)
		several[field[1]] = 1
	next
}

# What `compare --format csv` prints: rows of paths have an outcome, those of events have none.
what ~ /^(summary|largest|patch)$/ && FNR > 1 && $8 != "" && $7 !~ /^(unsupported|broken)$/ {
	all++
	count[$7]++
	change = $6 < 0 ? -$6 : $6
	size = $5 < 0 ? -$5 : $5
	if ($2 == "instructions" && $7 ~ /^(higher|lower)$/ && size >= FLOOR && !($1 in several)) {
		found[++found_count] = change
		path[found_count] = $1
		row[found_count] = $1 " " grouped($3) " " grouped($4) " " signed($5) " " in_percent($6)
	}
}

# What `compare --explain` prints: the sentence that it begins with, names of functions as code.
what == "sentence" && /^([0-9]+ of [0-9]+ paths? |Nothing |No path |As many instructions )/ {
	gsub(/[A-Za-z0-9_.]*_[A-Za-z0-9_.]*/, "`&`")
	print
	exit
}

# What `explain` prints: the first rows of its table of functions; nothing if their sum is not
# alike to `difference`.
what == "functions" && /^ *base +new +difference .*change +function$/ {
	difference_end = index($0, "difference") + length("difference") - 1
	change_at = index($0, "change")
	function_at = index($0, "function")
	next
}
what == "functions" && difference_end && !is_over {
	name = substr($0, function_at)
	number = substr($0, 1, difference_end)
	sub(/^.* /, "", number)
	if (name == "total") {
		is_over = 1
		is_alike = alike(plain(number), plain(difference))
	} else if (name !~ /^…/ && named < MOST) {
		kind = substr($0, change_at, function_at - change_at)
		gsub(/ /, "", kind)
		kind = kind ~ /appeared|vanished/ ? ", " kind : ""
		text = text (named++ ? "; " : "") "`" name "` " number kind
	}
}

# The page, in which `part` comes between the marks of `name`.
what == "put" && is_inside && /^<!-- end -->$/ {
	is_inside = 0
}
what == "put" && !is_inside {
	print
}
what == "put" && $0 == "<!-- showcase: " name " -->" {
	is_inside = 1
	print ""
	while ((getline text < part) > 0)
		print text
	print ""
}

END {
	if (what == "ends") {
		for (at = 1; at <= NR; at++)
			if (at in line && last[of[at]] == at)
				print line[at]
	} else if (what == "values") {
		values()
	} else if (what == "summary") {
		summary()
	} else if (what == "largest") {
		largest()
	} else if (what == "functions") {
		if (is_alike)
			print text
	} else if (what == "patch") {
		patch()
	}
}

function values(  at, it, text, rule, names, names_count, first, now, cell) {
	text = "| path |"
	rule = "|---|"
	for (at = 1; at <= kernel_count; at++) {
		text = text " " shown[kernels[at]] " |"
		rule = rule "---|"
	}
	print text " in all |"
	print rule "---|"
	names_count = split(paths, names, /[ \t\n]+/)
	for (it = 1; it <= names_count; it++) {
		text = "| `" names[it] "` |"
		first = now = ""
		for (at = 1; at <= kernel_count; at++) {
			cell = value[kernels[at], names[it]]
			text = text " " (cell ~ /^[0-9]/ ? cell : "–") " |"
			gsub(/[,~]/, "", cell)
			if (cell ~ /^[0-9]+$/) {
				if (first == "")
					first = cell
				now = cell
			}
		}
		print text " " (first > 0 ? in_percent((now - first) * 100 / first) : "") " |"
	}
}

function summary() {
	if (sentence != "") {
		sub(/^Nothing/, "nothing", sentence)
		print_wrapped("From " base " to " new ", " sentence)
		print ""
	} else {
		printf "From %s to %s %d of %d paths cost more and %d less", base, new,
			more(), all, count["lower"] + count["shorter-tail"]
		printf "; %d differ in other events alone, and %d are the same.\n\n",
			count["events-differ"], count["same"]
	}
	print "| path | base | new | difference | | most in |"
	print "|---|---|---|---|---|---|"
}

# In lines of at most 100 columns.
function print_wrapped(text,  words, count, at, row) {
	count = split(text, words, " ")
	row = words[1]
	for (at = 2; at <= count; at++) {
		if (length(row) + 1 + length(words[at]) > 100) {
			print row
			row = words[at]
		} else {
			row = row " " words[at]
		}
	}
	print row
}

# Fills `chosen` with the largest by percent, one of each family of paths.
function choose(most,  at, best, it, family) {
	for (at = 1; at <= most; at++) {
		best = 0
		for (it = 1; it <= found_count; it++) {
			family = path[it]
			sub(/\..*/, "", family)
			if (!(family in taken) && (!best || found[it] > found[best]))
				best = it
		}
		if (!best)
			return at - 1
		family = path[best]
		sub(/\..*/, "", family)
		taken[family] = 1
		chosen[at] = best
	}
	return most
}

function largest(  at, most) {
	most = choose(CANDIDATES)
	for (at = 1; at <= most; at++)
		print row[chosen[at]]
}

function more() {
	return count["higher"] + count["mode-appeared"] + count["longer-tail"]
}

function patch(  text, parts) {
	text = "–"
	if (choose(1)) {
		split(row[chosen[1]], parts, " ")
		text = "`" parts[1] "` " parts[4] " (" parts[5] " %)"
	}
	printf "| %s → %s | %d | %d | %s |\n", base, new,
		more(), count["lower"] + count["shorter-tail"], text
}

# Whether what is shown has the sign of what was measured, and is half to twice as much.
function alike(shown, measured) {
	if (measured < 0)
		return -shown >= -measured / 2 && -shown <= -measured * 2
	return shown >= measured / 2 && shown <= measured * 2
}

function plain(number) {
	gsub(/,/, "", number)
	return number + 0
}

# 111632 as 111,632.
function grouped(number,  text) {
	text = ""
	while (length(number) > 3) {
		text = "," substr(number, length(number) - 2) text
		number = substr(number, 1, length(number) - 3)
	}
	return number text
}

function signed(number) {
	return number < 0 ? "-" grouped(substr(number, 2)) : "+" grouped(number)
}

# A number in percent with two digits, without a space.
function in_percent(number) {
	return sprintf("%+.2f", number)
}
