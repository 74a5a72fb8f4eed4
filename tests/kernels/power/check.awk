# What two kernels differ in, by objdump's disassembly.
#
#   awk -f check.awk -v what=functions|changes
#
# `functions` reads `nm -S`, then `objdump -d --no-show-raw-insn`, and prints a line for each function:
# its name, how many instructions, and their mnemonics, without the padding behind them. What lies
# between two functions and is not padding is printed as `-`: a few have no names.
# `changes` reads `comm -3` of two such lists, sorted, and prints each function of the new one that
# has instructions more, and how many: nops in one place, ahead of all jumps. Whatever else differs
# is an error.

BEGIN {
	for (at = 0; at < 16; at++)
		value[substr("0123456789abcdef", at + 1, 1)] = at
}

what == "functions" && NR == FNR {
	if (NF == 4 && number($2))
		size[$1] = number($2) > size[$1] + 0 ? number($2) : size[$1]
	next
}

# Addresses have equally many digits, so that their order is that of strings.
what == "functions" && /^[0-9a-f]+ <.*>:$/ {
	finish()
	name = substr($2, 2, length($2) - 3)
	end = size[$1] ? substr($1, 1, 8) hexadecimal(number(substr($1, 9)) + size[$1]) : "g"
	next
}
what == "functions" && /^[0-9a-f]+:\t/ {
	if ($1 >= end) {
		finish()
		name = "-"
		end = "g"
	}
	mnemonic[++all] = $2
	if ($2 !~ /^(nop[wl]?|cs|data16|xchg|int3)$/)
		count = all
	else if (name == "-")
		finish()
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

# It prints piece by piece: to join the words of a large function takes minutes. The bytes of
# layout.S are not executed.
function finish(  at) {
	if (name != "" && name !~ /^power_(middle_)?text$/ && (count || name != "-")) {
		printf "%s %d", name, count
		for (at = 1; at <= count; at++)
			printf " %s", mnemonic[at]
		print ""
	}
	all = count = 0
}

function number(digits,  at, sum) {
	for (at = 1; at <= length(digits); at++)
		sum = sum * 16 + value[substr(digits, at, 1)]
	return sum + 0
}

# Eight digits. Not all awks print numbers of more than 31 bits as hexadecimal ones.
function hexadecimal(sum) {
	return sprintf("%04x%04x", sum / 65536, sum % 65536)
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

# Whether `new` is `base` with so many nops more in one place, ahead of all jumps.
function is_grown(base, new, more,  nops, at, width) {
	if (more < 1)
		return 0
	for (at = 0; at < more; at++)
		nops = nops " nop"
	width = length(nops)
	at = 0
	while (substr(base, at + 1, 1) == substr(new, at + 1, 1))
		at++
	return index(nops nops, substr(new, at + 1, width)) &&
		substr(new, at + 1 + width) == substr(base, at + 1) &&
		substr(new, 1, at) !~ / j/
}

function report(text) {
	print text
	is_bad = 1
}
