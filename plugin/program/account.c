/*
 * Tasks and frames, and what moves counts from one to another.
 */
#include "program/account.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/linkage.h"
#include "program/call_tree.h"
#include "program/cells.h"
#include "program/classes.h"
#include "program/held_fault.h"
#include "program/lines.h"
#include "program/processes.h"
#include "program/rows.h"
#include "program/sleeps.h"
#include "program/task.h"
#include "program/threads.h"
#include "program/windows.h"

/* Adds what was executed between two readings; events are counted as they come. */
static void add_reading(struct counts *to, const struct reading *more)
{
	to->steps += more->user + more->kernel;
	to->surplus += more->surplus;
	to->string_bytes += more->string_bytes;
	to->lines += more->lines;
	to->pages += more->pages;
	to->visits += more->visits;
	to->checks += more->checks;
	to->changes += more->changes;
}

static void take(struct counts *from, const struct counts *less)
{
	from->steps -= less->steps;
	from->surplus -= less->surplus;
	from->string_bytes -= less->string_bytes;
	from->lines -= less->lines;
	from->pages -= less->pages;
	from->visits -= less->visits;
	from->checks -= less->checks;
	from->faults -= less->faults;
	from->changes -= less->changes;
	for (size_t i = 0; i < classes.count; i++)
		from->events[i] -= less->events[i];
}

/* ---- Ends of frames and tasks ---------------------------------------------------------------- */

/* What the task did outside of any frame goes to its rows. */
static void enter_own_code(struct task *task, bool agent)
{
	enum row_kind user = USER, kernel = NEW_TASK;

	if (task->origin == OTHER_TASK)
		user = agent ? AGENT : OTHER_PROCESS;
	if (task->origin != PROGRAM_TASK)
		kernel = agent ? AGENT : KERNEL_THREAD;
	enter_work(task, user, 0, 0, &task->user);
	enter_work(task, kernel, 0, kernel == NEW_TASK && task->kernel.steps, &task->kernel);
	settle_cells(&task->user_cells, user, 0);
	settle_cells(&task->kernel_cells, kernel, 0);
	task->user = task->kernel = (struct counts){ 0 };
}

/* What the task's counts go to now. */
static struct counts *counts_of(struct task *task)
{
	if (task->depth)
		return &task->frames[task->depth - 1].counts;
	return task->in_user ? &task->user : &task->kernel;
}

static void close_frame(struct task *task)
{
	struct frame *frame = &task->frames[task->depth - 1];

	leave_call(task);
	release_fault(task, task->depth);
	task->depth--;
	if (frame->held) {
		hold_fault(task, frame, counts_of(task));
		return;
	}
	settle_early(frame);
	if (is_others(task, frame))
		add_counts(&task->user, &frame->counts);
	else
		enter_work(task, frame->kind, frame->id, 1, &frame->counts);
	if (task->becomes_first && !task->depth) {
		enter_own_code(task, false);
		become_first_thread(task);
	}
}

/* A task is no more, or the run is over: all that it did goes to its rows. */
static void close_task(struct task *task, bool agent)
{
	while (task->depth)
		close_frame(task);
	release_fault(task, 0);
	enter_own_code(task, agent);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Where the task stands, or would. */
static size_t place_of_task(uint64_t id)
{
	size_t at = (id * 0x9e3779b97f4a7c15u >> 32) % MOST_TASKS;

	while (account.tasks[at] && account.tasks[at]->id != id)
		at = (at + 1) % MOST_TASKS;
	return at;
}

struct task *known_task(uint64_t id)
{
	return account.tasks[place_of_task(id)];
}

static struct task *task_of(uint64_t id)
{
	size_t at = place_of_task(id);
	struct task *task = account.tasks[at];

	if (task)
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
	task->last_line = NO_LINE;
	account.tasks[at] = task;
	return task;
}

uint64_t current_number(void)
{
	struct task *task = account.current;

	return task->depth ? task->frames[task->depth - 1].number : task->number;
}

uint64_t *current_line(void)
{
	struct task *task = account.current;

	return task->depth ? &task->frames[task->depth - 1].last_line : &task->last_line;
}

struct counts totals(const struct reading *now)
{
	struct counts counts = {
		.steps = now->user + now->kernel - account.faults,
		.surplus = now->surplus - account.undone_surplus,
		.string_bytes = now->string_bytes - account.undone_bytes,
		.lines = now->lines, .pages = now->pages, .visits = now->visits,
		.user = now->user - account.user_faults -
			(now->user_surplus - account.undone_user_surplus),
	};

	memcpy(counts.events, account.events, sizeof(counts.events));
	return counts;
}

/* ---- Boundaries ------------------------------------------------------------------------------ */

void settle(const struct reading *now)
{
	const struct reading more = {
		.user = now->user - account.last.user, .kernel = now->kernel - account.last.kernel,
		.surplus = now->surplus - account.last.surplus,
		.string_bytes = now->string_bytes - account.last.string_bytes,
		.lines = now->lines - account.last.lines,
		.pages = now->pages - account.last.pages,
		.visits = now->visits - account.last.visits,
		.checks = now->checks - account.last.checks,
		.changes = now->changes - account.last.changes,
	};

	account.last = *now;
	if (account.current->in_user && !account.current->depth) {
		if (more.kernel)
			lose(KERNEL_CODE_IN_USER);
	} else if (more.user) {
		lose(USER_CODE_IN_KERNEL);
	}
	add_reading(counts_of(account.current), &more);
	add_reading(&account.since_switch, &more);
	note_block(account.current, &more);
}

HOT void count_event(unsigned int class)
{
	counts_of(account.current)->events[class - 1]++;
	account.since_switch.events[class - 1]++;
	account.events[class - 1]++;
	note_event(account.current, class);
}

static void forget_task(struct task *task)
{
	if (!task)
		return;
	for (size_t i = 0; i < MOST_FRAMES; i++)
		free(task->frames[i].early.cells);
	free(task->held.cells.cells);
	free(task->user_cells.cells);
	free(task->kernel_cells.cells);
	free(task->calls.calls);
	free(task->regions);
	free(task);
}

void open_account(uint64_t id, const struct reading *now)
{
	for (size_t at = 0; at < MOST_TASKS; at++) {
		forget_task(account.tasks[at]);
		account.tasks[at] = NULL;
	}
	memset(account.rows, 0, sizeof(account.rows));
	forget_cells();
	account.task_count = account.row_count = 0;
	account.faults = account.undone_surplus = 0;
	account.user_faults = account.undone_user_surplus = account.undone_bytes = 0;
	memset(account.events, 0, sizeof(account.events));
	account.lost = NOT_LOST;
	account.last = *now;
	account.since_switch = (struct counts){ 0 };
	account.current = NULL;
	account.current = task_of(id);
	if (!account.current)
		return;
	account.current->origin = PROGRAM_TASK;
	account.current->in_user = true;
	open_processes(account.current);
	account.open = account.launching = true;
}

/* What the task executed so far was the agent: from its first system call on it is the program. */
static void hand_over(struct task *task)
{
	struct cell cell = {
		.block = USER_CODE, .kind = AGENT, .steps = task->user.steps,
		.surplus = task->user.surplus,
	};

	account.launching = false;
	if (cells.wanted)
		add_cell(&cell);
	cell.steps = cell.surplus = 0;
	for (cell.class = 1; cell.class <= classes.count; cell.class++) {
		cell.times = task->user.events[cell.class - 1];
		if (cells.functions && cell.times && !is_turn(cell.class))
			add_cell(&cell);
	}
	enter_work(task, AGENT, 0, 0, &task->user);
	task->user = (struct counts){ 0 };
}

void close_account(const struct reading *now)
{
	settle(now);
	for (size_t at = 0; at < MOST_TASKS; at++)
		if (account.tasks[at])
			close_task(account.tasks[at], account.tasks[at] == account.current);
	account.open = false;
}

void push(enum row_kind kind, uint32_t id, const struct reading *now,
	  const struct repeat *repeat, const struct begun *begun)
{
	struct task *task = account.current;
	struct frame *frame = &task->frames[task->depth];

	settle(now);
	cells.fresh = false;
	if (account.launching && kind == SYSCALL && !task->depth)
		hand_over(task);
	go_on(task, kind);
	if (task->depth == MOST_FRAMES) {
		lose(TOO_DEEP);
		return;
	}
	task->depth++;
	/* Field by field: the list of early cells keeps its room. */
	frame->kind = kind;
	frame->id = id;
	frame->held = false;
	frame->counts = (struct counts){ 0 };
	frame->repeat = *repeat;
	frame->repeating = repeat->instruction && now->user + now->kernel == repeat->next;
	frame->begun = now->user + now->kernel == begun->next ? begun->class : 0;
	frame->number = ++account.frames;
	frame->last_line = NO_LINE;
	frame->block_below = cells.previous;
	frame->node_below = cells.node;
	frame->early.count = 0;
	if (call_tree.wanted)
		enter_call(task, cells.previous);
}

struct frame *top(enum row_kind kind)
{
	struct task *task = account.current;
	struct frame *frame = task->depth ? &task->frames[task->depth - 1] : NULL;

	return frame && frame->kind == kind ? frame : NULL;
}

struct counts *below_top(struct task *task)
{
	if (task->depth > 1)
		return &task->frames[task->depth - 2].counts;
	return task->in_user ? &task->user : &task->kernel;
}

void undo(void)
{
	struct task *task = account.current;
	struct frame *frame = &task->frames[task->depth - 1];
	struct counts *below = below_top(task);
	bool user = task->depth == 1 && task->in_user;
	struct counts undone = {
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
	if (frame->begun) {
		below->events[frame->begun - 1]--;
		account.events[frame->begun - 1]--;
		undone.events[frame->begun - 1] = 1;
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

void pop(const struct reading *now, struct repeat *repeat)
{
	struct task *task = account.current;
	struct frame *frame = &task->frames[task->depth - 1];

	settle(now);
	cells.fresh = false;
	*repeat = frame->repeat;
	if (!frame->repeating)
		repeat->instruction = NULL;
	repeat->next = now->user + now->kernel;
	close_frame(task);
}

void return_from_kernel(const struct reading *now, struct repeat *repeat)
{
	struct task *task = account.current;

	if (task->depth) {
		pop(now, repeat);
		return;
	}
	settle(now);
	cells.fresh = false;
	if (task->in_user)
		lose(NOTHING_TO_RETURN_FROM);
	task->in_user = true;
	if (task->origin == NEW_KERNEL_TASK) {
		task->origin = PROGRAM_TASK;
		processes.unseen += task->process == NO_PROCESS;
	}
}

void switch_to(uint64_t id, const struct reading *now)
{
	uint64_t steps = now->user + now->kernel - account.faults;

	settle(now);
	leave_task(account.current);
	keep_thread_name(account.current);
	account.current = task_of(id);
	resume_task(account.current, steps);
	account.since_switch = (struct counts){ 0 };
	cells.fresh = cells.wanted;
	cells.since_switch.count = 0;
}

void begin_task(const struct reading *now)
{
	struct task *task = account.current;

	settle(now);
	take_back_preemption(task);
	take(counts_of(account.current), &account.since_switch);
	take_cells(task, &cells.since_switch);
	close_task(task, false);
	forget_calls(task);
	task->away = task->woken = false;
	begin_in_process(task);
	task->origin = NEW_KERNEL_TASK;
	task->in_user = false;
	task->kernel = account.since_switch;
	give_cells(task, &cells.since_switch);
	cells.fresh = false;
}
