/*
 * Which process a task belongs to, and the rows of each.
 */
#include "program/processes.h"

#include <stddef.h>
#include <string.h>

#include "program/parts.h"
#include "program/task.h"
#include "program/task_struct.h"
#include "program/threads.h"

struct processes processes;

_Static_assert(MOST_THREADS == MOST_PROCESSES + MOST_LATER_THREADS,
	       "each process that is told has room for its first thread");

void open_processes(struct task *first)
{
	memset(&processes, 0, sizeof(processes));
	open_threads();
	first->process = FIRST_PROCESS;
	processes.count = 1;
	processes.all[FIRST_PROCESS] = (struct process){ .tasks = 1 };
	if (find_fields(first->id))
		begin_first_thread(first);
	else
		processes.unparted = NO_FIELDS;
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
	task->thread = NO_THREAD;
	task->becomes_first = false;
	if (!fork)
		return;
	fork->slot = 0;
	if (processes.unparted || fork->process == NO_PROCESS)
		return;
	if (leads_threads(task->id)) {
		task->process = new_process(fork);
		if (task->process != BEYOND)
			begin_first_thread(task);
		return;
	}
	task->process = fork->process;
	if (task->process == BEYOND)
		return;
	processes.all[task->process].tasks++;
	begin_later_thread(task, fork->order);
}

void name_process(struct task *task)
{
	if (processes.unparted || task->process == NO_PROCESS || task->process == BEYOND)
		return;
	read_task_name(task->id, processes.all[task->process].name);
	execute_in_thread(task);
}

void enter_own_work(const struct task *task, const struct row *more)
{
	if (processes.unparted)
		return;
	if (!enter_part(&processes.parts, task->process, more))
		processes.unparted = TOO_MANY_PARTS;
	else if (task->process != NO_PROCESS && task->process != BEYOND)
		enter_thread_part(task, more);
}
