/*
 * The table of cells, the lists of those without a row, and the block that is executed.
 */
#include "program/cells.h"

#include <stdlib.h>
#include <string.h>

#include "common/linkage.h"
#include "program/call_tree.h"
#include "program/task.h"
#include "program/windows.h"

struct cells cells;

static size_t place_of_cell(const struct cell *like)
{
	uint64_t key = like->block ^ (uint64_t)like->kind << 56 ^ (uint64_t)like->id << 32 ^
		       like->node * 0xff51afd7ed558ccdu ^ (uint64_t)like->class << 50;
	size_t at = (key * 0x9e3779b97f4a7c15u >> 20) & (cells.room - 1);

	while (cells.cells[at].block &&
	       (cells.cells[at].block != like->block || cells.cells[at].kind != like->kind ||
		cells.cells[at].id != like->id || cells.cells[at].node != like->node ||
		cells.cells[at].class != like->class))
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

/* Of the cells that there may be: from so many on a tree gets no more nodes, and then no more cells
 * but those of what there is no room for. */
enum { FULL_FOR_NODES = MOST_CELLS / 8 * 3, FULL_FOR_TREE = MOST_CELLS / 16 * 7 };

void add_cell(const struct cell *more)
{
	struct cell *cell, without_room;

	if (!more->node && !cells.functions)
		return;
	if (cells.used >= cells.room / 2 && !grow_cells()) {
		lose(NO_MEMORY);
		return;
	}
	cell = &cells.cells[place_of_cell(more)];
	if (!cell->block && more->node && cells.used >= FULL_FOR_TREE) {
		without_room = *more;
		without_room.node = rest_node();
		more = &without_room;
		cell = &cells.cells[place_of_cell(more)];
	}
	if (!cell->block) {
		*cell = *more;
		call_tree.full = ++cells.used >= FULL_FOR_NODES;
		return;
	}
	merge(cell, more);
}

void forget_cells(void)
{
	memset(cells.cells, 0, cells.room * sizeof(*cells.cells));
	cells.used = 0;
	cells.current = cells.previous = cells.place = 0;
	cells.entered = cells.node = 0;
	cells.open_count = 0;
	cells.fresh = false;
	cells.since_switch.count = 0;
}

/* ---- Cells of a row that is not known yet ---------------------------------------------------- */

static int by_block(const void *one, const void *other)
{
	const struct cell *a = one, *b = other;

	if (a->block != b->block)
		return a->block > b->block ? 1 : -1;
	if (a->class != b->class)
		return a->class > b->class ? 1 : -1;
	return (a->node > b->node) - (a->node < b->node);
}

static bool is_of_one_place(const struct cell *one, const struct cell *other)
{
	return one->block == other->block && one->class == other->class &&
	       one->node == other->node;
}

/* Room for one more: those of one block become one, or the list grows. */
static bool make_room(struct cell_list *list)
{
	size_t kept = 0;
	struct cell *more;

	if (list->count)
		qsort(list->cells, list->count, sizeof(*list->cells), by_block);
	for (size_t i = 0; i < list->count; i++) {
		if (kept && is_of_one_place(&list->cells[kept - 1], &list->cells[i]))
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
	if (list->count && is_of_one_place(&list->cells[list->count - 1], cell)) {
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
	bool in_tree = wants_row(kind, id);

	for (size_t i = 0; i < list->count; i++) {
		list->cells[i].kind = kind;
		list->cells[i].id = id;
		if (!in_tree)
			list->cells[i].node = 0;
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

/* Whether the tree has, or may turn out to have, what the task's frame at this depth executes, or,
 * at 0, its own code. */
static bool may_be_in_tree(const struct task *task, unsigned int depth)
{
	const struct frame *frame = depth ? &task->frames[depth - 1] : NULL;

	if (!frame && !task->in_user)
		return wants_kind(NEW_TASK) || wants_kind(KERNEL_THREAD);
	if (!frame)
		return task->origin != OTHER_TASK && !account.launching && wants_row(USER, 0);
	if (is_others(task, frame))
		return false;
	/* A fault without a name, or that is held, may turn out to be QEMU's alone. */
	if (frame->kind == PAGE_FAULT && frame->id == UNNAMED && wants_kind(INTERPRETER_FAULT))
		return true;
	if (frame->held && wants_row(INTERPRETER_FAULT, frame->id))
		return true;
	return frame->id == UNNAMED ? wants_kind(frame->kind) : wants_row(frame->kind, frame->id);
}

/* Adds to a cell of the task's frame at this depth, or, at 0, of its own code. A program's own code
 * has no cell in its row, which has nothing else, unless its tree is wanted. */
static void add_to(struct task *task, unsigned int depth, struct cell *cell)
{
	struct frame *frame = depth ? &task->frames[depth - 1] : NULL;
	bool in_user = !frame && task->in_user;

	if (!may_be_in_tree(task, depth))
		cell->node = 0;
	if (!cell->node && !cells.functions)
		return;
	if (in_user && !cell->node)
		cell->block = USER_CODE;
	if (!frame && !in_user) {
		append_cell(&task->kernel_cells, cell);
	} else if (in_user || is_others(task, frame)) {
		if (task->origin == OTHER_TASK)
			append_cell(&task->user_cells, cell);
		else if (cell->node) {
			cell->kind = USER;
			cell->id = 0;
			add_cell(cell);
		}
	} else if (frame->id == UNNAMED || frame->held) {
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
			.block = list->cells[i].block, .node = list->cells[i].node,
			.class = list->cells[i].class, .times = -list->cells[i].times,
			.steps = -list->cells[i].steps, .surplus = -list->cells[i].surplus,
		};

		add_to(task, task->depth, &less);
	}
}

void give_cells(struct task *task, const struct cell_list *list)
{
	bool in_tree = call_tree.wanted && may_be_in_tree(task, 0);

	for (size_t i = 0; i < list->count; i++) {
		struct cell cell = list->cells[i];

		/* The task has made no call yet. */
		cell.node = in_tree && !cell.class ? current_node(task) : 0;
		if (cell.node || cells.functions)
			append_cell(&task->kernel_cells, &cell);
	}
}

/* ---- Regions and blocks ---------------------------------------------------------------------- */

static bool region_in_tree(void)
{
	for (unsigned int i = 0; i < cells.open_count; i++)
		if (wants_row(REGION_OF_PROGRAM, cells.open[i]))
			return true;
	return false;
}

/* Adds to the cell of a region that is open. Of the code of programs only a tree has blocks. */
static void add_to_region(uint32_t name, bool user, struct cell cell)
{
	cell.kind = REGION_OF_PROGRAM;
	cell.id = name;
	if (!wants_row(REGION_OF_PROGRAM, name))
		cell.node = 0;
	if (user && !cell.node)
		cell.block = USER_CODE;
	add_cell(&cell);
}

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
		.block = user && call_tree.wanted != TREE_OF_CALLERS ? USER_CODE : cells.current,
		.times = user ? 0 : cells.entered,
		.steps = more->user + more->kernel, .surplus = more->surplus,
	};

	if (!cells.wanted || !cell.steps)
		return;
	if (call_tree.wanted)
		reach_block(task, cells.place);
	if (call_tree.wanted && (may_be_in_tree(task, task->depth) || region_in_tree()))
		cell.node = current_node(task);
	cells.node = cell.node;
	for (unsigned int i = 0; i < cells.open_count; i++)
		add_to_region(cells.open[i], user, cell);
	if (!user)
		cells.entered = 0;
	if (cells.fresh)
		append_cell(&cells.since_switch, &cell);
	add_to(task, task->depth, &cell);
}

HOT void note_event(struct task *task, unsigned int class)
{
	bool user = !task->depth && task->in_user;
	struct cell cell = { .block = cells.current, .class = class, .times = 1 };

	if (!cells.functions)
		return;
	for (unsigned int i = 0; i < cells.open_count; i++)
		add_to_region(cells.open[i], user, cell);
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

/* Adds to the cells of what the frame on top interrupted. */
static void add_below(struct task *task, const struct frame *top, struct cell cell)
{
	bool user = task->depth == 1 && task->in_user;

	for (unsigned int i = 0; i < cells.open_count; i++)
		if (!began_since(cells.open[i], top->number))
			add_to_region(cells.open[i], user, cell);
	add_to(task, task->depth - 1, &cell);
}

void undo_block(struct task *task, const struct frame *top)
{
	bool user = task->depth == 1 && task->in_user;
	const struct cell steps = {
		.block = user && call_tree.wanted != TREE_OF_CALLERS ? USER_CODE :
			 top->block_below,
		.node = top->node_below, .steps = -1, .surplus = -(uint64_t)top->repeating,
	};
	const struct cell event = {
		.block = top->block_below, .class = top->begun, .times = -1,
	};

	if (cells.wanted)
		add_below(task, top, steps);
	if (cells.functions && top->begun)
		add_below(task, top, event);
}
