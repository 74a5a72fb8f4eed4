/*
 * Which process a task belongs to, and the rows of each.
 */
#include "program/processes.h"

#include <stddef.h>
#include <string.h>

#include "program/task.h"
#include "program/task_struct.h"

struct processes processes;

void open_processes(struct task *first)
{
	memset(&processes, 0, sizeof(processes));
	if (!find_fields(first->id))
		processes.unparted = NO_FIELDS;
	first->process = FIRST_PROCESS;
	processes.count = 1;
	processes.all[FIRST_PROCESS] = (struct process){ .tasks = 1 };
}

/* What is known of the copy with this slot; NULL if that is nothing. */
static struct fork *fork_of(uint64_t slot)
{
	for (size_t at = 0; at < MOST_FORKS; at++)
		if (processes.forks[at].slot == slot)
			return &processes.forks[at];
	return NULL;
}

void note_fork(uint64_t slot, uint32_t by)
{
	struct fork *fork = fork_of(slot);

	/* The oldest is forgotten: then the task's start was not seen. */
	if (!fork)
		fork = &processes.forks[processes.fork_count % MOST_FORKS];
	*fork = (struct fork){ .slot = slot, .process = by, .order = ++processes.fork_count };
	if (by != NO_PROCESS && by != BEYOND)
		memcpy(fork->name, processes.all[by].name, sizeof(fork->name));
}

/* The number of a new process. */
static uint32_t new_process(const struct fork *fork)
{
	if (fork->process == BEYOND || processes.count == MOST_PROCESSES) {
		processes.beyond++;
		return BEYOND;
	}
	processes.count++;
	processes.all[processes.count] = (struct process){
		.parent = fork->process, .order = fork->order, .tasks = 1,
	};
	memcpy(processes.all[processes.count].name, fork->name, sizeof(fork->name));
	return processes.count;
}

void begin_in_process(struct task *task)
{
	struct fork *fork = fork_of(task->id);

	task->process = NO_PROCESS;
	if (!fork)
		return;
	fork->slot = 0;
	if (processes.unparted || fork->process == NO_PROCESS)
		return;
	if (leads_threads(task->id)) {
		task->process = new_process(fork);
		return;
	}
	task->process = fork->process;
	if (task->process != BEYOND)
		processes.all[task->process].tasks++;
}

void name_process(const struct task *task)
{
	if (!processes.unparted && task->process != NO_PROCESS && task->process != BEYOND)
		read_task_name(task->id, processes.all[task->process].name);
}

void enter_part(uint32_t process, const struct row *more)
{
	size_t at = (process * 0x9e3779b1u + more->kind * 2654435761u + more->id * 40503u) %
		    MOST_PARTS;
	struct part *part;

	if (processes.unparted)
		return;
	for (;; at = (at + 1) % MOST_PARTS) {
		part = &processes.parts[at];
		if (!part->row.used || (part->process == process && part->row.kind == more->kind &&
					part->row.id == more->id))
			break;
	}
	if (!part->row.used && ++processes.part_count == MOST_PARTS) {
		processes.unparted = TOO_MANY_PARTS;
		return;
	}
	if (!part->row.used)
		*part = (struct part){ .process = process, .row = *more };
	else
		add_to_row(&part->row, more);
}
