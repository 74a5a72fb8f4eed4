/*
 * Cells: what each row executed in each block of the kernel's code. From the blocks' addresses the
 * host makes functions. Counted only if the host asks for it. Each class of instructions that are
 * events has cells of its own; they are in no node of a tree.
 *
 * The cells of a row add up to it. So what has no row yet keeps its cells to itself until that is
 * known: a frame without a name, and the code of a task.
 */
#ifndef PLUGIN_CELLS_H
#define PLUGIN_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/linkage.h"
#include "program/task.h"

enum { MOST_CELLS = 1 << 21, MOST_OPEN = 64 };
#define USER_CODE 1		/* a cell's address for all code of programs */

struct cells {
	uint64_t functions;	/* of all rows are wanted */
	bool wanted;		/* those are, or the tree of some */
	struct cell *cells;	/* open addressing, at most half full */
	size_t room, used;
	uint64_t current, previous;	/* blocks' addresses; for a tree, of function_of() them */
	uint64_t place;		/* of the current block; for a tree only */
	uint32_t node;		/* in which something was counted last */
	uint64_t entered;	/* 1 until something of the current one is counted */
	uint32_t open[MOST_OPEN];	/* names of the regions that are open, in any task */
	unsigned int open_count;
	uint64_t fresh;		/* the current task was not interrupted since the switch */
	struct cell_list since_switch;	/* what was executed since, while it is so */
};
extern HIDDEN struct cells cells;

void add_cell(const struct cell *more);

void forget_cells(void);

/* The cells go to this row, since it is known now that they are of that one. */
void settle_cells(struct cell_list *list, enum row_kind kind, uint32_t id);

/* The frame's name is known now, or never will be. */
void settle_early(struct frame *frame);

void name_frame(struct frame *frame, uint32_t id);

/* Whether what is executed in the frame counts as the code of its task, which is not a program's:
 * whose it is, is known when the task ends. */
bool is_others(const struct task *task, const struct frame *frame);

/* Takes what was executed since the switch to the task from what is executed in it. */
void take_cells(struct task *task, const struct cell_list *list);

/* Gives that to the kernel's code of the task, which is new. */
void give_cells(struct task *task, const struct cell_list *list);

/* A region begins or ends; its cells have what is executed in between. */
void note_region(uint32_t name, bool begins);

/* Adds what was executed in the current block to its cells: that of the frame, and those of the
 * regions that are open. */
void note_block(struct task *task, const struct reading *more);

/* An instruction of this class, from 1, is begun in the current block. */
void note_event(struct task *task, unsigned int class);

void enter_block(uint64_t address);

/* The last instruction below the frame on top was not executed. */
void undo_block(struct task *task, const struct frame *top);

#endif
