/*
 * Accounts of a run: to which row of the table every instruction belongs.
 *
 * Each task has a stack of frames: its own code (of a program, or of a kernel thread), and above it
 * what it entered the kernel for: a system call, an exception, an interrupt, softirqs. What is
 * executed belongs to the frame on top of the task that is current. Entries, returns and task
 * switches are the boundaries; what was executed since the last one is added to that frame. A
 * frame's counts go to its row when it ends, since only then its name is certain.
 *
 * The accounts check themselves: code of the user's with a frame open, or code of the kernel's
 * without one, means that a boundary was missed.
 */
#ifndef PLUGIN_ACCOUNT_H
#define PLUGIN_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum row_kind {			/* crates/trace/src/accounts.rs has the same */
	USER, SYSCALL, SYSCALL_32, PAGE_FAULT, EXCEPTION, INTERRUPT, SOFTIRQ, NEW_TASK,
	KERNEL_THREAD, AGENT, OTHER_PROCESS,
	REGION_OF_PROGRAM,	/* of cells only */
};
#define UNNAMED UINT32_MAX	/* a row's id until it is known */

enum lost {			/* why the accounts are no use; the host has the words */
	NOT_LOST, USER_CODE_IN_KERNEL, KERNEL_CODE_IN_USER, TOO_DEEP, TOO_MANY_TASKS,
	TOO_MANY_ROWS, NO_MEMORY, NOTHING_TO_RETURN_FROM, NO_ERROR_CODE, NO_TASK,
	UNSEEN_CODE,
};

struct counts {
	uint64_t steps;		/* of the guest's clock */
	uint64_t surplus;	/* of these, those of string instructions beyond one each */
	uint64_t string_bytes;
	uint64_t lines;		/* of data, each once a frame */
	uint64_t checks;	/* steps in which a string instruction only saw that it is done */
	uint64_t faults;	/* instructions begun or fetched, not executed: in no step */
	uint64_t user;		/* instructions of a program's, in totals() only */
};

/* A string instruction that may be executed once more. */
struct repeat {
	const void *instruction;
	uint64_t next;		/* what the counters say before that */
	uint64_t bytes;		/* that it moves each time, if that is known before */
	bool checks;		/* its check, the last step, is counted */
};

/* What was executed in a block of the kernel's code, for one row. */
struct cell {
	uint64_t block;		/* its address; 0 if this cell is free */
	enum row_kind kind;
	uint32_t id;
	uint64_t times, steps, surplus;
};

enum { MOST_EARLY = 24 };

struct frame {
	enum row_kind kind;
	uint32_t id;
	struct counts counts;
	struct repeat repeat;	/* in the frame below, as it was left */
	bool repeating;		/* the last that was begun there is one that repeats */
	uint64_t number;	/* of this frame among all: lines are counted once in each */
	uint64_t block_below;	/* that was left for this one */
	unsigned int early_count;
	struct cell early[MOST_EARLY];	/* until the frame has a name */
};

enum task_origin { PROGRAM_TASK, NEW_KERNEL_TASK, OTHER_TASK };

enum { MOST_FRAMES = 16, MOST_TASKS = 1 << 15, MOST_ROWS = 1 << 12 };

struct task {
	uint64_t id;		/* where the kernel keeps its stack pointer */
	enum task_origin origin;
	bool in_user;		/* its own code is a program's */
	unsigned int depth;
	struct counts user, kernel;	/* of its own code */
	uint64_t number;
	struct frame frames[MOST_FRAMES];
	struct region_stack *regions;	/* regions.h; NULL if it has had none */
};

struct row {
	bool used;
	enum row_kind kind;
	uint32_t id;
	uint64_t calls;
	struct counts counts;
};

/* What the counters say at a boundary. */
struct reading {
	uint64_t user, kernel, surplus, user_surplus, string_bytes, lines, checks;
};

static struct {
	bool open;
	enum lost lost;
	struct reading last;
	uint64_t faults;	/* instructions begun, not executed */
	uint64_t undone_surplus;	/* of these, string instructions that went on */
	uint64_t undone_bytes;	/* and theirs */
	uint64_t user_faults, undone_user_surplus;	/* the same, in code of a program's */
	struct task *current;
	struct counts since_switch;	/* all that was executed since it became that */
	struct task *tasks[MOST_TASKS];
	size_t task_count;
	struct row rows[MOST_ROWS];
	size_t row_count;
	uint64_t frames;	/* begun so far */
} account;


static void lose(enum lost why)
{
	if (!account.lost)
		account.lost = why;
}

#include "kernel_windows.h"
#include "cells.h"

static void add(struct counts *to, const struct counts *more)
{
	to->steps += more->steps;
	to->surplus += more->surplus;
	to->string_bytes += more->string_bytes;
	to->lines += more->lines;
	to->checks += more->checks;
	to->faults += more->faults;
}

static void take(struct counts *from, const struct counts *less)
{
	from->steps -= less->steps;
	from->surplus -= less->surplus;
	from->string_bytes -= less->string_bytes;
	from->lines -= less->lines;
	from->checks -= less->checks;
	from->faults -= less->faults;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void enter_row(enum row_kind kind, uint32_t id, uint64_t calls, const struct counts *counts)
{
	size_t at = (kind * 2654435761u + id * 40503u) % MOST_ROWS;

	if (!calls && !counts->steps && !counts->faults)
		return;
	while (account.rows[at].used &&
	       (account.rows[at].kind != kind || account.rows[at].id != id))
		at = (at + 1) % MOST_ROWS;
	if (!account.rows[at].used) {
		if (account.row_count == MOST_ROWS - 1) {
			lose(TOO_MANY_ROWS);
			return;
		}
		account.row_count++;
		account.rows[at] = (struct row){ .used = true, .kind = kind, .id = id };
	}
	account.rows[at].calls += calls;
	add(&account.rows[at].counts, counts);
}

static void close_frame(struct task *task)
{
	struct frame *frame = &task->frames[--task->depth];
	bool others = task->origin == OTHER_TASK && frame->kind < INTERRUPT;

	settle_early(frame);
	if (others)
		add(&task->user, &frame->counts);
	else
		enter_row(frame->kind, frame->id, 1, &frame->counts);
}

/* A task is no more, or the run is over: all that it did goes to its rows. */
static void close_task(struct task *task, bool agent)
{
	while (task->depth)
		close_frame(task);
	if (task->origin == OTHER_TASK) {
		enter_row(agent ? AGENT : OTHER_PROCESS, 0, 0, &task->user);
		enter_row(agent ? AGENT : KERNEL_THREAD, 0, 0, &task->kernel);
	} else {
		enter_row(USER, 0, 0, &task->user);
		enter_row(task->origin == NEW_KERNEL_TASK ? KERNEL_THREAD : NEW_TASK, 0,
			  task->origin == PROGRAM_TASK && task->kernel.steps, &task->kernel);
	}
	task->user = task->kernel = (struct counts){ 0 };
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static struct task *task_of(uint64_t id)
{
	size_t at = (id * 0x9e3779b97f4a7c15u >> 32) % MOST_TASKS;
	struct task *task;

	for (; (task = account.tasks[at]); at = (at + 1) % MOST_TASKS)
		if (task->id == id)
			return task;
	if (account.task_count == MOST_TASKS / 2) {
		lose(TOO_MANY_TASKS);
		return account.current;
	}
	task = calloc(1, sizeof(*task));
	if (!task) {
		lose(NO_MEMORY);
		return account.current;
	}
	account.task_count++;
	task->id = id;
	task->origin = OTHER_TASK;
	task->number = ++account.frames;
	account.tasks[at] = task;
	return task;
}

/* The counts that what is executed now belongs to. */
static struct counts *current_counts(void)
{
	struct task *task = account.current;

	if (task->depth)
		return &task->frames[task->depth - 1].counts;
	return task->in_user ? &task->user : &task->kernel;
}

/* The number of the frame that what is executed now belongs to. */
static uint64_t current_number(void)
{
	struct task *task = account.current;

	return task->depth ? task->frames[task->depth - 1].number : task->number;
}

/* All that was executed, by whom it may be; only differences mean anything. */
static struct counts totals(const struct reading *now)
{
	return (struct counts){
		.steps = now->user + now->kernel - account.faults,
		.surplus = now->surplus - account.undone_surplus,
		.string_bytes = now->string_bytes - account.undone_bytes,
		.lines = now->lines,
		.user = now->user - account.user_faults -
			(now->user_surplus - account.undone_user_surplus),
	};
}

/* ---- Boundaries ------------------------------------------------------------------------------ */

/* Adds what was executed since the last boundary to what it belongs to. */
static void settle(const struct reading *now)
{
	uint64_t user = now->user - account.last.user, kernel = now->kernel - account.last.kernel;
	const struct counts more = {
		.steps = user + kernel,
		.surplus = now->surplus - account.last.surplus,
		.string_bytes = now->string_bytes - account.last.string_bytes,
		.lines = now->lines - account.last.lines,
		.checks = now->checks - account.last.checks,
	};

	account.last = *now;
	if (account.current->in_user && !account.current->depth) {
		if (kernel)
			lose(KERNEL_CODE_IN_USER);
	} else if (user) {
		lose(USER_CODE_IN_KERNEL);
	}
	add(current_counts(), &more);
	add(&account.since_switch, &more);
	note_block(account.current, &more);
}

/* A run begins, in the task `id`, which is in its own code. */
static void open_account(uint64_t id, const struct reading *now)
{
	for (size_t at = 0; at < MOST_TASKS; at++) {
		if (account.tasks[at])
			free(account.tasks[at]->regions);
		free(account.tasks[at]);
		account.tasks[at] = NULL;
	}
	memset(account.rows, 0, sizeof(account.rows));
	forget_cells();
	account.task_count = account.row_count = 0;
	account.faults = account.undone_surplus = 0;
	account.user_faults = account.undone_user_surplus = account.undone_bytes = 0;
	account.lost = NOT_LOST;
	account.last = *now;
	account.since_switch = (struct counts){ 0 };
	account.current = NULL;
	account.current = task_of(id);
	if (!account.current)
		return;
	account.current->origin = PROGRAM_TASK;
	account.current->in_user = true;
	account.open = true;
}

/* The run ends, in the agent's own code. */
static void close_account(const struct reading *now)
{
	settle(now);
	for (size_t at = 0; at < MOST_TASKS; at++)
		if (account.tasks[at])
			close_task(account.tasks[at], account.tasks[at] == account.current);
	account.open = false;
}

static void push(enum row_kind kind, uint32_t id, const struct reading *now,
		 const struct repeat *repeat)
{
	struct task *task = account.current;
	struct frame *frame = &task->frames[task->depth];

	settle(now);
	if (task->depth == MOST_FRAMES) {
		lose(TOO_DEEP);
		return;
	}
	task->depth++;
	/* Field by field: the room for early cells is large, and this is done often. */
	frame->kind = kind;
	frame->id = id;
	frame->counts = (struct counts){ 0 };
	frame->repeat = *repeat;
	frame->repeating = repeat->instruction && now->user + now->kernel == repeat->next;
	frame->number = ++account.frames;
	frame->block_below = cells.previous;
	frame->early_count = 0;
}

/* The frame on top, if it is one of this kind. */
static struct frame *top(enum row_kind kind)
{
	struct task *task = account.current;
	struct frame *frame = task->depth ? &task->frames[task->depth - 1] : NULL;

	return frame && frame->kind == kind ? frame : NULL;
}

/* What the frame on top interrupted. */
static struct counts *below_top(struct task *task)
{
	if (task->depth > 1)
		return &task->frames[task->depth - 2].counts;
	return task->in_user ? &task->user : &task->kernel;
}

/* The instruction that led to the frame on top was begun, and not executed. */
static void undo(void)
{
	struct task *task = account.current;
	struct frame *frame = &task->frames[task->depth - 1];
	struct counts *below = below_top(task);
	bool user = task->depth == 1 && task->in_user;
	const struct counts undone = {
		.steps = 1, .surplus = frame->repeating, .user = user && !frame->repeating,
		.string_bytes = frame->repeating ? frame->repeat.bytes : 0,
	};

	below->steps--;
	below->faults++;
	below->surplus -= frame->repeating;
	if (frame->repeating) {
		below->string_bytes -= frame->repeat.bytes;
		account.undone_bytes += frame->repeat.bytes;
	}
	undo_block(task, frame);
	account.faults++;
	account.undone_surplus += frame->repeating;
	if (user) {
		account.user_faults++;
		account.undone_user_surplus += frame->repeating;
	}
	undo_in_windows(frame->number, &undone);
}

/* Ends the frame on top; a string instruction below goes on in `repeat`. */
static void pop(const struct reading *now, struct repeat *repeat)
{
	struct task *task = account.current;
	struct frame *frame = &task->frames[task->depth - 1];

	settle(now);
	*repeat = frame->repeat;
	if (!frame->repeating)
		repeat->instruction = NULL;
	repeat->next = now->user + now->kernel;
	close_frame(task);
}

/* The kernel returns to where it was entered, or begins a program. */
static void return_from_kernel(const struct reading *now, struct repeat *repeat)
{
	struct task *task = account.current;

	if (task->depth) {
		pop(now, repeat);
		return;
	}
	settle(now);
	if (task->in_user)
		lose(NOTHING_TO_RETURN_FROM);
	task->in_user = true;
	if (task->origin == NEW_KERNEL_TASK)
		task->origin = PROGRAM_TASK;
}

/* The task `id` is current from now on. */
static void switch_to(uint64_t id, const struct reading *now)
{
	settle(now);
	account.current = task_of(id);
	account.since_switch = (struct counts){ 0 };
}

/* The current task is new, even if one with its id was there before. It has been since the switch
 * to it, and nothing interrupts that. */
static void begin_task(const struct reading *now)
{
	struct task *task = account.current;

	settle(now);
	take(current_counts(), &account.since_switch);
	close_task(task, false);
	task->origin = NEW_KERNEL_TASK;
	task->in_user = false;
	task->kernel = account.since_switch;
}

#endif
