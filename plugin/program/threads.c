/*
 * Which thread a task is, and the rows of each.
 */
#include "program/threads.h"

#include <stddef.h>
#include <string.h>

#include "program/parts.h"
#include "program/task.h"
#include "program/task_struct.h"

struct threads threads;

void open_threads(void)
{
	memset(&threads, 0, sizeof(threads));
}

static void add_thread(struct task *task, uint64_t order)
{
	task->thread = ++threads.count;
	threads.all[threads.count] = (struct thread){ .process = task->process, .order = order };
}

/* There is room for the first thread of each process that is told. */
void begin_first_thread(struct task *task)
{
	add_thread(task, 0);
}

void begin_later_thread(struct task *task, uint64_t order)
{
	if (threads.later == MOST_LATER_THREADS) {
		threads.beyond++;
		task->thread = BEYOND;
		return;
	}
	threads.later++;
	add_thread(task, order);
}

static uint32_t first_thread_of(uint32_t process)
{
	uint32_t thread = 1;

	while (thread < threads.count &&
	       (threads.all[thread].process != process || threads.all[thread].order))
		thread++;
	return thread;
}

void execute_in_thread(struct task *task)
{
	task->becomes_first = task->thread != first_thread_of(task->process);
}

void become_first_thread(struct task *task)
{
	task->becomes_first = false;
	task->thread = first_thread_of(task->process);
}

void keep_thread_name(const struct task *task)
{
	/* One that executes a program has that one's name already. */
	if (task->thread != NO_THREAD && task->thread != BEYOND && !task->becomes_first)
		read_task_name(task->id, threads.all[task->thread].name);
}

void enter_thread_part(const struct task *task, const struct row *more)
{
	if (!threads.unthreaded &&
	    !enter_part(&threads.parts, owner_of(task->process, task->thread), more))
		threads.unthreaded = TOO_MANY_THREAD_PARTS;
}
