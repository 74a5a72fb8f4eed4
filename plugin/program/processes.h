/*
 * The processes of a run, and the rows of each: the same counts as those of the run's rows, once
 * more for the process that they belong to, and once more for its thread (threads.h).
 *
 * A process is known by who started it: what copies a task stores the new one's stack pointer, and
 * who executes that is its parent. So neither a number that is used again nor a parent that has
 * ended can mislead. It is named by the last program that it executed, as the kernel names it while
 * it executes that; a name that it gives itself is not looked at.
 *
 * NO_PROCESS has what can't be known, and what the program did not start. BEYOND has the processes
 * for which there is no room.
 */
#ifndef PLUGIN_PROCESSES_H
#define PLUGIN_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"
#include "program/parts.h"
#include "program/task.h"
#include "program/task_struct.h"

enum { NO_PROCESS, FIRST_PROCESS, MOST_PROCESSES = 64, MOST_FORKS = 1 << 10 };

/* Why there are no rows of processes; the host has the words. */
enum unparted { PARTED, NO_FIELDS, TOO_MANY_PARTS };

struct process {
	uint32_t parent;
	uint64_t order;		/* of its start among all */
	char name[LONGEST_TASK_NAME + 1];	/* empty if it is not known */
	uint64_t tasks;		/* its threads, all that there were */
};

/* A task that was copied, until it begins. */
struct fork {
	uint64_t slot;		/* of the new one; 0 if this is free */
	uint32_t process;	/* whose task copied it */
	char name[LONGEST_TASK_NAME + 1];	/* of that, then */
	uint64_t order;
};

struct processes {
	enum unparted unparted;
	struct process all[MOST_PROCESSES + 1];	/* from FIRST_PROCESS on */
	uint32_t count;
	uint64_t beyond;	/* processes that are BEYOND */
	uint64_t unseen;	/* tasks that became a program's in no process */
	struct fork forks[MOST_FORKS];
	uint64_t fork_count;
	struct parts parts;	/* by the number of the process */
};
extern HIDDEN struct processes processes;

/* A run begins with the agent's child, the task with this slot. */
void open_processes(struct task *first);

/* A task is copied, and this is stored for the new one. */
void note_fork(uint64_t slot, uint32_t by);

/* The task begins, after it was copied: finds out whose it is. */
void begin_in_process(struct task *task);

/* The task's process executes a program, after which it is named. */
void name_process(struct task *task);

/* Adds to a row of the task's process, and of its thread. */
void enter_own_work(const struct task *task, const struct row *more);

#endif
