# The tables of power.sh, of lines of variant, number of runs, path, verdict and difference.
#
#   awk -f power.awk -v runs='2 3 6'

BEGIN {
	FS = "\t"
	run_count = split(runs, run, " ")

	# How often a window of a path executes the function that the change is in, by `explain`; all
	# other paths: never.
	truth("fork", "process.fork-exit", 1)
	truth("fork", "process.thread", 1)
	truth("tcp-send", "tcp.round-trip", 2)
	truth("mmap", "memory.mmap-munmap", 1)
	truth("mmap", "memory.mmap-munmap+touch", 1)
	truth("mmap", "memory.mmap-64k", 1)
	# None: run_timer_softirq is where the waits for TIMER end, and a tick that falls into another
	# path's window is too rare for any rule.
	is_change["timer"] = 1
	truth("softirq", "softirq.timer+user", 1)
	truth("softirq", "softirq.timer+idle", 1)
	truth("softirq", "softirq.net-rx", 1)
	truth("softirq", "udp.round-trip", 2)
	truth("softirq", "tcp.round-trip", 2)
	truth("softirq", "tcp.connect", 3)
}

{
	split($1, part, "+")
	change = size = ""
	if (match(part[1], /-[0-9]+$/) && substr(part[1], 1, RSTART - 1) in is_change) {
		change = substr(part[1], 1, RSTART - 1)
		size = substr(part[1], RSTART + 1)
	}
	times = (change, $3) in executed ? executed[change, $3] : 0
	group = change "," size "," (change == "" || part[2] != "")
	if (!(($1, group) in is_of)) {
		is_of[$1, group] = 1
		kernels[group]++
	}
	# A check, which has no number, says nothing about sizes.
	if ($4 == "unsupported" || $4 == "same" && $5 == "-")
		next
	if (times)
		judge_change($2, $3, $4, $5, times * size)
	else
		judge_rest($1, $2, $3, $4, $5)
}

END {
	print "Paths whose code changed, as found / with the right size / of all:"
	print ""
	heading("| more | in | kernels | path | expected |")
	for (at = 1; at <= change_count; at++) {
		text = cells(change_group[at]) " `" change_path[at] "` | +" expected[at] " |"
		for (it = 1; it <= run_count; it++)
			text = text sprintf(" %d / %d / %d |", found[at, run[it]],
				right[at, run[it]], all[at, run[it]])
		print text
	}
	print ""
	print "Paths whose code did not change, as other verdicts than `same` / of all:"
	print ""
	heading("| more | in | kernels |")
	for (at = 1; at <= group_count; at++) {
		text = cells(groups[at])
		for (it = 1; it <= run_count; it++)
			text = text sprintf(" %d / %d |", alarms[groups[at], run[it]],
				compared[groups[at], run[it]])
		print text
	}
	print ""
	if (alarm_count) {
		print "The false alarms:"
		print ""
		print "| kernel | runs | path | verdict | difference |"
		print "|---|---|---|---|---|"
		for (at = 1; at <= alarm_count; at++)
			print alarm[at]
	} else {
		print "There is no false alarm."
	}
}

function truth(change, path, times) {
	is_change[change] = 1
	executed[change, path] = times
}

# A group of kernels as the first cells of a row.
function cells(group,  field) {
	split(group, field, ",")
	return "| " (field[1] == "" ? "0 | –" : field[2] " | `" field[1] "`") " | " \
		kernels[group] (field[3] ? " in another layout" : "") " |"
}

function judge_change(number, path, verdict, difference, more,  row) {
	if (!((group, path) in row_of)) {
		row_of[group, path] = ++change_count
		change_group[change_count] = group
		change_path[change_count] = path
		expected[change_count] = more
	}
	row = row_of[group, path]
	all[row, number]++
	found[row, number] += verdict != "same"
	right[row, number] += verdict == "higher" && difference == more
}

function judge_rest(variant, number, path, verdict, difference) {
	if (!(group in is_group)) {
		is_group[group] = 1
		groups[++group_count] = group
	}
	compared[group, number]++
	if (verdict == "same")
		return
	alarms[group, number]++
	alarm[++alarm_count] = "| `" variant "` | " number " | `" path "` | " verdict " | " \
		difference " |"
}

function heading(first,  at, rule) {
	for (at = 1; at <= run_count; at++)
		first = first " " run[at] " runs |"
	print first
	rule = first
	gsub(/[^|]+/, "---", rule)
	print rule
}
