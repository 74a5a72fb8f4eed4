/*
 * Cells: what each row executed in each block of the kernel's code. From the blocks' addresses the
 * host makes functions. Part of account.h, and counted only if the host asks for it.
 *
 * A frame that has no name yet keeps its cells to itself: they go to its row when that is known.
 */
#ifndef PLUGIN_CELLS_H
#define PLUGIN_CELLS_H

enum { MOST_CELLS = 1 << 21, MOST_OPEN = 64 };
#define USER_CODE 1		/* a cell's address for all code of programs */

static struct {
	uint64_t wanted;
	struct cell *cells;	/* open addressing, at most half full */
	size_t room, used;
	uint64_t current, previous;	/* blocks' addresses */
	uint64_t entered;	/* 1 until something of the current one is counted */
	uint32_t open[MOST_OPEN];	/* names of the regions that are open, in any task */
	unsigned int open_count;
} cells;

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

static void add_cell(const struct cell *more)
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
	cell->times += more->times;
	cell->steps += more->steps;
	cell->surplus += more->surplus;
}

static void forget_cells(void)
{
	memset(cells.cells, 0, cells.room * sizeof(*cells.cells));
	cells.used = 0;
	cells.current = cells.previous = cells.entered = 0;
	cells.open_count = 0;
}

/* Adds to a cell of the frame, which may have no name yet. */
static void add_to_frame(struct frame *frame, struct cell *more)
{
	more->kind = frame->kind;
	more->id = frame->id;
	if (frame->id == UNNAMED && frame->early_count < MOST_EARLY)
		frame->early[frame->early_count++] = *more;
	else
		add_cell(more);
}

/* The frame's cells go to its row, whose name is known now, or never will be. */
static void settle_early(struct frame *frame)
{
	for (unsigned int i = 0; i < frame->early_count; i++) {
		frame->early[i].id = frame->id;
		add_cell(&frame->early[i]);
	}
	frame->early_count = 0;
}

static void name_frame(struct frame *frame, uint32_t id)
{
	frame->id = id;
	settle_early(frame);
}

/* A region begins or ends; its cells have what is executed in between. */
static void note_region(uint32_t name, bool begins)
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

/* Adds what was executed in the current block to its cells: that of the frame, and those of the
 * regions that are open. A program's own code has no cell in its row, which has nothing else. */
static void note_block(struct task *task, const struct counts *more)
{
	bool user = !task->depth && task->in_user;
	struct cell cell = {
		.block = user ? USER_CODE : cells.current, .times = cells.entered,
		.steps = more->steps, .surplus = more->surplus, .kind = REGION_OF_PROGRAM,
	};

	if (!cells.wanted || !cell.block || !more->steps)
		return;
	for (unsigned int i = 0; i < cells.open_count; i++) {
		cell.id = cells.open[i];
		add_cell(&cell);
	}
	if (user)
		return;
	cells.entered = 0;
	cell.kind = KERNEL_THREAD;
	cell.id = 0;
	if (task->depth)
		add_to_frame(&task->frames[task->depth - 1], &cell);
	else
		add_cell(&cell);
}

static void enter_block(uint64_t address)
{
	cells.previous = cells.current;
	cells.current = address;
	cells.entered = 1;
}

/* The last instruction below the frame on top was not executed. */
static void undo_block(struct task *task, const struct frame *top)
{
	struct cell cell = {
		.block = top->block_below, .steps = -1, .surplus = -(uint64_t)top->repeating,
	};

	if (!cells.wanted || !cell.block)
		return;
	for (unsigned int i = 0; i < cells.open_count; i++) {
		cell.kind = REGION_OF_PROGRAM;
		cell.id = cells.open[i];
		if (began_since(cell.id, top->number))
			continue;
		cell.block = task->depth > 1 || !task->in_user ? top->block_below : USER_CODE;
		add_cell(&cell);
	}
	cell.block = top->block_below;
	if (task->depth > 1)
		add_to_frame(&task->frames[task->depth - 2], &cell);
}

#endif
