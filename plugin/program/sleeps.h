/*
 * Sleeps: how often a task of the program's went to sleep, in which row and which regions, who woke
 * it, and how much was executed from then on until it ran. Sleeps, preemptions and wake-ups are
 * also counted as events of rows and regions.
 *
 * A task sleeps if the kernel switches away from it and wakes it before it switches back. One that
 * is not woken was only replaced by another for a while: it was preempted, or yielded the CPU. One
 * that ends does neither, since the kernel never switches back to it.
 *
 * A wake-up is the first store of the kernel's function for it into the state of a task that was
 * switched away from. The state stands at the beginning of a task's record, after what belongs to
 * the entry code, and nothing that a configuration may move comes before it: Linux
 * include/linux/sched.h, struct task_struct; kernel/sched/core.c, try_to_wake_up().
 */
#ifndef PLUGIN_SLEEPS_H
#define PLUGIN_SLEEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"
#include "program/task.h"

enum { MOST_SLEEPS = 1 << 12 };	/* rows of sleeps in a run */

/* Why sleeps are not told; the host has the words. */
enum sleepless { SLEEPS_TOLD, NO_WAKE_UP, TOO_MANY_SLEEPS };

/* The sleeps of one kind: of a process's tasks, in one row or region, ended by one waker. */
struct sleep {
	uint32_t process;
	enum row_kind kind;
	uint32_t id;		/* of a region that of its name */
	struct waker waker;
	uint64_t count;		/* 0 if this is free */
	uint64_t steps;		/* from the wake-ups to running, of whatever was executed */
	uint64_t idle;		/* steps of the CPU's waits meanwhile, without the run's first */
	uint64_t first;		/* how many of them have that one */
};

struct sleeps {
	enum sleepless sleepless;
	struct sleep all[MOST_SLEEPS];
	uint32_t count;
};
extern HIDDEN struct sleeps sleeps;

/* A run begins, in a kernel whose function for wake-ups is known or not. */
void open_sleeps(bool known);

/* The task is switched away from. */
void leave_task(struct task *task);

/* It is woken by what the task `by` executes, after so many steps of all. */
void wake_task(struct task *task, struct task *by, uint64_t steps);

/* It is switched to, after so many steps of all. */
void resume_task(struct task *task, uint64_t steps);

/* It is another that begins now in its place: this one had ended, so it was not preempted. */
void take_back_preemption(struct task *task);

#endif
