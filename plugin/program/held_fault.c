/*
 * The fault that a task holds, and the row that it belongs to.
 */
#include "program/held_fault.h"

#include <stdbool.h>

#include "arch/arch.h"
#include "program/cells.h"
#include "program/rows.h"
#include "program/task.h"

static void enter_held(struct task *task, enum row_kind kind)
{
	struct held_fault *held = &task->held;

	held->used = false;
	settle_cells(&held->cells, kind, held->id);
	enter_work(task, kind, held->id, 1, &held->counts);
}

/* Whether a fault with this error code is the second of the instruction whose first is held. */
static bool is_second(const struct held_fault *held, const struct counts *below, uint32_t code,
		      uint64_t address)
{
	return code & WRITE_ERROR && address == held->address && below->steps == held->steps + 1 &&
	       below->changes == held->changes + 1;
}

void name_fault(struct task *task, const struct counts *below, uint32_t code, uint64_t address)
{
	struct frame *frame = &task->frames[task->depth - 1];
	const struct held_fault *held = &task->held;

	if (held->used && held->depth == task->depth - 1)
		enter_held(task, is_second(held, below, code, address) ? INTERPRETER_FAULT :
									 PAGE_FAULT);
	if (code & (WRITE_ERROR | FETCH_ERROR) || is_others(task, frame)) {
		name_frame(frame, code);
		return;
	}
	frame->id = code;
	frame->address = address;
	frame->held = true;
}

void hold_fault(struct task *task, struct frame *frame, const struct counts *below)
{
	struct held_fault *held = &task->held;
	const struct cell_list room = held->cells;

	if (held->used)
		enter_held(task, PAGE_FAULT);
	*held = (struct held_fault){
		.used = true, .depth = task->depth, .steps = below->steps,
		.changes = below->changes, .address = frame->address, .id = frame->id,
		.counts = frame->counts, .cells = frame->early,
	};
	frame->early = (struct cell_list){ .cells = room.cells, .room = room.room };
}

void go_on(struct task *task, enum row_kind kind)
{
	if (kind != PAGE_FAULT && kind != INTERRUPT && kind != SOFTIRQ)
		release_fault(task, task->depth);
}

void release_fault(struct task *task, unsigned int depth)
{
	if (task->held.used && task->held.depth >= depth)
		enter_held(task, PAGE_FAULT);
}
