/*
 * The table of cells, the lists of those without a row, and the block that is executed.
 */
#include "program/cells.h"

#include <stdlib.h>
#include <string.h>

#include "common/linkage.h"
#include "program/task.h"
#include "program/windows.h"

struct cells cells;

static size_t place_of_cell(const struct cell *like)
{
	uint64_t key = like->block ^ (uint64_t)like->kind << 56 ^ (uint64_t)like->id << 32;
	size_t at = (key * 0x9e3779b97f4a7c15u >> 20) & (cells.room - 1);

	while (cells.cells[at].block &&
	       (cells.cells[at].block != like->block || cells.cells[at].kind != like->kind ||
		cells.cells[at].id != like->id))
		at = (at + 1) & (cells.room - 1);
	return at;
}

/* Doubles the table; false without memory. */
static bool grow_cells(void)
{
	struct cell *old = cells.cells;
	size_t old_room = cells.room;

	cells.room = old_room ? 2 * old_room : 1 << 14;
	cells.cells = cells.room <= MOST_CELLS ? calloc(cells.room, sizeof(*old)) : NULL;
	if (!cells.cells) {
		cells.cells = old;
		cells.room = old_room;
		return false;
	}
	for (size_t i = 0; i < old_room; i++)
		if (old[i].block)
			cells.cells[place_of_cell(&old[i])] = old[i];
	free(old);
	return true;
}

static void merge(struct cell *to, const struct cell *more)
{
	to->times += more->times;
	to->steps += more->steps;
	to->surplus += more->surplus;
}

void add_cell(const struct cell *more)
{
	struct cell *cell;

	if (cells.used >= cells.room / 2 && !grow_cells()) {
		lose(NO_MEMORY);
		return;
	}
	cell = &cells.cells[place_of_cell(more)];
	if (!cell->block) {
		*cell = *more;
		cells.used++;
		return;
	}
	merge(cell, more);
}

void forget_cells(void)
{
	memset(cells.cells, 0, cells.room * sizeof(*cells.cells));
	cells.used = 0;
	cells.current = cells.previous = cells.entered = 0;
	cells.open_count = 0;
	cells.fresh = false;
	cells.since_switch.count = 0;
}

/* ---- Cells of a row that is not known yet ---------------------------------------------------- */

static int by_block(const void *one, const void *other)
{
	const uint64_t a = ((const struct cell *)one)->block;
	const uint64_t b = ((const struct cell *)other)->block;

	return (a > b) - (a < b);
}

/* Room for one more: those of one block become one, or the list grows. */
static bool make_room(struct cell_list *list)
{
	size_t kept = 0;
	struct cell *more;

	if (list->count)
		qsort(list->cells, list->count, sizeof(*list->cells), by_block);
	for (size_t i = 0; i < list->count; i++) {
		if (kept && list->cells[kept - 1].block == list->cells[i].block)
			merge(&list->cells[kept - 1], &list->cells[i]);
		else
			list->cells[kept++] = list->cells[i];
	}
	list->count = kept;
	if (list->room && kept <= list->room / 2)
		return true;
	list->room = list->room ? 2 * list->room : 64;
	more = realloc(list->cells, list->room * sizeof(*more));
	if (!more) {
		list->room = list->count;
		return false;
	}
	list->cells = more;
	return true;
}

static void append_cell(struct cell_list *list, const struct cell *cell)
{
	if (list->count && list->cells[list->count - 1].block == cell->block) {
		merge(&list->cells[list->count - 1], cell);
		return;
	}
	if (list->count == list->room && !make_room(list)) {
		lose(NO_MEMORY);
		return;
	}
	list->cells[list->count++] = *cell;
}

void settle_cells(struct cell_list *list, enum row_kind kind, uint32_t id)
{
	for (size_t i = 0; i < list->count; i++) {
		list->cells[i].kind = kind;
		list->cells[i].id = id;
		add_cell(&list->cells[i]);
	}
	list->count = 0;
}

void settle_early(struct frame *frame)
{
	settle_cells(&frame->early, frame->kind, frame->id);
}

void name_frame(struct frame *frame, uint32_t id)
{
	frame->id = id;
	settle_early(frame);
}

bool is_others(const struct task *task, const struct frame *frame)
{
	return task->origin == OTHER_TASK && frame->kind < INTERRUPT;
}

/* Adds to a cell of the task's frame at this depth, or, at 0, of its own code. A program's own code
 * has no cell in its row, which has nothing else. */
static void add_to(struct task *task, unsigned int depth, struct cell *cell)
{
	struct frame *frame = depth ? &task->frames[depth - 1] : NULL;

	if (!frame && !task->in_user) {
		append_cell(&task->kernel_cells, cell);
	} else if (!frame || is_others(task, frame)) {
		if (task->origin == OTHER_TASK)
			append_cell(&task->user_cells, cell);
	} else if (frame->id == UNNAMED) {
		append_cell(&frame->early, cell);
	} else {
		cell->kind = frame->kind;
		cell->id = frame->id;
		add_cell(cell);
	}
}

void take_cells(struct task *task, const struct cell_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct cell less = {
			.block = list->cells[i].block, .times = -list->cells[i].times,
			.steps = -list->cells[i].steps, .surplus = -list->cells[i].surplus,
		};

		add_to(task, task->depth, &less);
	}
}

void give_cells(struct cell_list *to, const struct cell_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		append_cell(to, &list->cells[i]);
}

/* ---- Regions and blocks ---------------------------------------------------------------------- */

void note_region(uint32_t name, bool begins)
{
	unsigned int at = 0;

	count_region(name, begins);
	if (begins && cells.open_count < MOST_OPEN)
		cells.open[cells.open_count++] = name;
	if (begins)
		return;
	while (at < cells.open_count && cells.open[at] != name)
		at++;
	if (at < cells.open_count)
		cells.open[at] = cells.open[--cells.open_count];
}

HOT void note_block(struct task *task, const struct reading *more)
{
	bool user = !task->depth && task->in_user;
	struct cell cell = {
		.block = user ? USER_CODE : cells.current, .times = user ? 0 : cells.entered,
		.steps = more->user + more->kernel, .surplus = more->surplus,
		.kind = REGION_OF_PROGRAM,
	};

	if (!cells.wanted || !cell.steps)
		return;
	for (unsigned int i = 0; i < cells.open_count; i++) {
		cell.id = cells.open[i];
		add_cell(&cell);
	}
	if (!user)
		cells.entered = 0;
	if (cells.fresh)
		append_cell(&cells.since_switch, &cell);
	add_to(task, task->depth, &cell);
}

void enter_block(uint64_t address)
{
	cells.previous = cells.current;
	cells.current = address;
	cells.entered = 1;
}

void undo_block(struct task *task, const struct frame *top)
{
	bool user = task->depth == 1 && task->in_user;
	struct cell cell = {
		.block = user ? USER_CODE : top->block_below, .steps = -1,
		.surplus = -(uint64_t)top->repeating, .kind = REGION_OF_PROGRAM,
	};

	if (!cells.wanted)
		return;
	for (unsigned int i = 0; i < cells.open_count; i++) {
		cell.id = cells.open[i];
		if (!began_since(cell.id, top->number))
			add_cell(&cell);
	}
	add_to(task, task->depth - 1, &cell);
}
