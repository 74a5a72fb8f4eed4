/*
 * The threads of a run's processes, and the rows of each: the same counts as those of the process's
 * rows, once more for the thread that they belong to.
 *
 * A thread is one by the order in which its process started it: neither a number that is used again
 * nor a name can mislead. The name that the kernel has for it, which the thread may choose, is only
 * told.
 *
 * A thread that executes a program takes its process's first thread's place: all others have ended
 * by then. What it did before, and that call, is its own; what follows is the first thread's.
 *
 * Of each process the threads for which there is no room are BEYOND, together.
 */
#ifndef PLUGIN_THREADS_H
#define PLUGIN_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"
#include "program/parts.h"
#include "program/task.h"
#include "program/task_struct.h"

enum { NO_THREAD, MOST_THREADS = 256, MOST_LATER_THREADS = 192 };

/* Why there are no rows of threads; the host has the words. */
enum unthreaded { THREADED, TOO_MANY_THREAD_PARTS };

struct thread {
	uint32_t process;
	uint64_t order;		/* of its start among all; 0 of its process's first one */
	char name[LONGEST_TASK_NAME + 1];	/* when it was last switched away from */
};

struct threads {
	enum unthreaded unthreaded;
	struct thread all[MOST_THREADS + 1];	/* from 1 on */
	uint32_t count;
	uint32_t later;		/* of these, those that are not their process's first one */
	uint64_t beyond;	/* threads that are BEYOND */
	struct parts parts;	/* by owner_of() */
};
extern HIDDEN struct threads threads;

void open_threads(void);

/* The task begins, in its process, as the first of its threads, or as a later one. */
void begin_first_thread(struct task *task);

void begin_later_thread(struct task *task, uint64_t order);

/* The task, of a process, executes a program. */
void execute_in_thread(struct task *task);

/* It takes the first thread's place. */
void become_first_thread(struct task *task);

/* Reads what the task is called. */
void keep_thread_name(const struct task *task);

/* Adds to a row of the thread's, of a process. */
void enter_thread_part(const struct task *task, const struct row *more);

/* Whose rows `parts` has: a thread's, or those of all of a process's that are BEYOND. */
static inline uint64_t owner_of(uint32_t process, uint32_t thread)
{
	return (uint64_t)process << 32 | thread;
}

#endif
