# What two kernels differ in, by objdump's disassembly.
#
#   awk -f check.awk -v what=functions|changes
#
# `functions` reads `objdump -d --no-show-raw-insn --no-addresses` and prints a line for each
# function: its name, how many instructions, and their mnemonics, without the padding behind them.
# `changes` reads `comm -3` of two such lists, sorted, and prints each function of the new one that
# has instructions more, and how many: nops in one place, ahead of all jumps. Whatever else differs
# is an error.

# The bytes of layout.S are not executed.
what == "functions" && /^<.*>:$/ {
	finish()
	name = substr($0, 2, length($0) - 3)
	is_skipped = name ~ /^power_(middle_)?text$/
	next
}
what == "functions" && /^\t/ && !is_skipped {
	mnemonic[++all] = $1
	if ($1 !~ /^(nop[wl]?|cs|data16|xchg|int3)$/)
		count = all
}

# comm's second column begins with a tab.
what == "changes" && /^\t/ {
	name = $1
	new_count = $2
	sub(/^\t[^ ]+ [0-9]+/, "")
	is_new++
	new[is_new] = $0
	new_name[is_new] = name
	new_number[is_new] = new_count
	next
}
what == "changes" {
	name = $1
	if (name in base)
		report(name " changed twice")
	base_number[name] = $2
	sub(/^[^ ]+ [0-9]+/, "")
	base[name] = $0
}

END {
	if (what == "functions")
		finish()
	else
		changes()
	exit is_bad
}

# It prints piece by piece: to join the words of a large function takes minutes.
function finish(  at) {
	if (name != "" && !is_skipped) {
		printf "%s %d", name, count
		for (at = 1; at <= count; at++)
			printf " %s", mnemonic[at]
		print ""
	}
	all = count = 0
}

function changes(  at, name) {
	for (at = 1; at <= is_new; at++) {
		name = new_name[at]
		if (!(name in base))
			report(name " has no like in base")
		else if (!is_grown(base[name], new[at], new_number[at] - base_number[name]))
			report(name " has other instructions")
		else
			print name, new_number[at] - base_number[name]
		delete base[name]
	}
	for (name in base)
		report(name " is missing")
}

# Whether `new` is `base` with `number` nops in one place, ahead of all jumps.
function is_grown(base, new, number,  nops, at, size) {
	if (number < 1)
		return 0
	for (at = 0; at < number; at++)
		nops = nops " nop"
	size = length(nops)
	at = 0
	while (substr(base, at + 1, 1) == substr(new, at + 1, 1))
		at++
	return index(nops nops, substr(new, at + 1, size)) &&
		substr(new, at + 1 + size) == substr(base, at + 1) &&
		substr(new, 1, at) !~ / j/
}

function report(text) {
	print text
	is_bad = 1
}
