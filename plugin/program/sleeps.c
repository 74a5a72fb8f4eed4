/*
 * The sleeps of a run, by where they were and who ended them.
 */
#include "program/sleeps.h"

#include <stddef.h>
#include <string.h>

#include "program/callgrind.h"
#include "program/classes.h"
#include "program/idling.h"
#include "program/regions.h"
#include "program/task.h"

struct sleeps sleeps;

void open_sleeps(bool known)
{
	memset(&sleeps, 0, sizeof(sleeps));
	sleeps.sleepless = known ? SLEEPS_TOLD : NO_WAKE_UP;
}

void leave_task(struct task *task)
{
	task->away = true;
	task->woken = false;
	task->idle_before = idle_steps();
	task->wakes_before = idling.wakes;
}

/* What the task is in the kernel for, softirqs aside, and, unless `interrupts`, interrupts too;
 * NULL if that is its own code. */
static const struct frame *work_of(const struct task *task, bool interrupts)
{
	for (unsigned int depth = task->depth; depth; depth--) {
		const struct frame *frame = &task->frames[depth - 1];

		if (frame->kind != SOFTIRQ && (interrupts || frame->kind != INTERRUPT))
			return frame;
	}
	return NULL;
}

/* Counts it, or takes it back, where the task's work is: in its row, and in the regions that it is
 * in. An interrupt is in no region of the task that it interrupts. */
static void count_turn(struct task *task, const struct frame *work, enum turn turn, uint64_t more)
{
	struct counts *counts = task->in_user ? &task->user : &task->kernel;

	if (work)
		counts = &task->frames[work - task->frames].counts;
	counts->events[classes.turns[turn] - 1] += more;
	if (task->regions && !(work && work->kind == INTERRUPT))
		count_turn_in_regions(task->regions, turn, more);
	count_collected(turn, more);
}

/* The kind of the task's own code. */
static enum row_kind own_kind(const struct task *task)
{
	if (task->origin == PROGRAM_TASK)
		return USER;
	return task->in_user ? OTHER_PROCESS : KERNEL_THREAD;
}

void wake_task(struct task *task, struct task *by, uint64_t steps)
{
	const struct frame *work = work_of(by, true);

	if (!task->away || task->woken)
		return;
	task->woken = true;
	task->woken_at = steps;
	task->waker = (struct waker){
		/* An interrupt is no process's, whichever it interrupts. */
		.process = work && work->kind == INTERRUPT ? 0 : by->process,
		.kind = work ? work->kind : own_kind(by), .id = work ? work->id : 0,
	};
	if (task->origin == PROGRAM_TASK && sleeps.sleepless != NO_WAKE_UP)
		count_turn(by, work, WOKE, 1);
}

static bool is_same(const struct sleep *one, const struct sleep *other)
{
	return one->process == other->process && one->kind == other->kind && one->id == other->id &&
	       one->waker.process == other->waker.process &&
	       one->waker.kind == other->waker.kind && one->waker.id == other->waker.id;
}

static void add_sleep(const struct sleep *more)
{
	size_t at = (more->process * 0x9e3779b1u + more->kind * 2654435761u + more->id * 40503u +
		     more->waker.process * 69069u + more->waker.kind * 22695477u +
		     more->waker.id * 1103515245u) % MOST_SLEEPS;

	while (sleeps.all[at].count && !is_same(&sleeps.all[at], more))
		at = (at + 1) % MOST_SLEEPS;
	if (sleeps.all[at].count) {
		sleeps.all[at].count += more->count;
		sleeps.all[at].steps += more->steps;
		sleeps.all[at].idle += more->idle;
		sleeps.all[at].first += more->first;
	} else if (sleeps.count == MOST_SLEEPS - 1) {
		sleeps.sleepless = TOO_MANY_SLEEPS;
	} else {
		sleeps.count++;
		sleeps.all[at] = *more;
	}
}

/* The same in each region that the task is in; of several of one name, once. */
static void add_in_regions(const struct region_stack *stack, struct sleep sleep)
{
	sleep.kind = REGION_OF_PROGRAM;
	for (unsigned int i = 0; i < stack->depth; i++) {
		bool again = false;

		for (unsigned int below = 0; below < i; below++)
			again |= stack->regions[below].name == stack->regions[i].name;
		sleep.id = stack->regions[i].name;
		if (!again)
			add_sleep(&sleep);
	}
}

void resume_task(struct task *task, uint64_t steps)
{
	const struct frame *work = work_of(task, false);
	const struct sleep sleep = {
		.process = task->process, .kind = work ? work->kind : USER,
		.id = work ? work->id : 0, .waker = task->waker, .count = 1,
		.steps = steps - task->woken_at, .idle = idle_steps() - task->idle_before,
		.first = !task->wakes_before && idling.wakes,
	};
	bool slept = task->away && task->woken;

	task->preempted = task->away && !slept && task->origin == PROGRAM_TASK &&
			  sleeps.sleepless != NO_WAKE_UP;
	task->away = task->woken = false;
	if (task->preempted)
		count_turn(task, work, PREEMPTED, 1);
	if (!slept || task->origin != PROGRAM_TASK || sleeps.sleepless == NO_WAKE_UP)
		return;
	count_turn(task, work, SLEPT, 1);
	if (sleeps.sleepless)
		return;
	add_sleep(&sleep);
	if (task->regions)
		add_in_regions(task->regions, sleep);
}

void take_back_preemption(struct task *task)
{
	if (task->preempted)
		count_turn(task, work_of(task, false), PREEMPTED, -1);
	task->preempted = false;
}
