/*
 * Call trees: where in the calls of a task the cells of a row or region are (cells.h). Counted only
 * of the rows that the host asks for.
 *
 * Each task has a stack of its calls, told by where they stored their return addresses, since the
 * registers are not known. A call's node is made once something is counted in it: the path to it
 * is that of its callers. What a jump leads to stays in the call that it was made in: from the
 * blocks' addresses the host sees in which function that is.
 *
 * No call that is missed or mistaken loses an instruction: it is counted in another node.
 */
#ifndef PLUGIN_CALL_TREE_H
#define PLUGIN_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/linkage.h"
#include "program/task.h"

enum { MOST_NODES = 1 << 18, DEEPEST_CALL = 512, MOST_WANTED = 64, LONGEST_WANTED = 127 };

/* How control came to a node; of what the kernel was entered for, the row's kind more. */
enum node_kind {
	ROOT_NODE,	/* target: the number of the process; 0 of what is in none */
	REST_NODE,	/* all that there is no room for */
	CALL_NODE,
	ENTRY_NODE,
};

enum tree_form { NO_TREE, TREE_OF_ROW, TREE_OF_CALLERS };	/* from the row on; or all of it */

struct node {
	uint32_t parent;	/* 0 if it has none; the first node is 1 */
	uint32_t kind;
	uint64_t site;		/* the block that the call was made in */
	uint64_t target;	/* the block that it led to */
};

struct call_tree {
	enum tree_form wanted;
	struct node *nodes;	/* number 0 is none */
	uint32_t count, rest;	/* the latter: that of REST_NODE; 0 until there is one */
	bool full;		/* there is room for no more nodes, since there is none for cells */
	/* Calls on top of DEEPEST_CALL others, in the task's own code or in what the kernel was
	 * entered for: they are counted in the last of these. */
	uint64_t deeper;
	uint64_t beyond;	/* calls that no node was left for */
	char region[LONGEST_WANTED + 1];	/* whose tree is wanted; empty if none is */
	uint32_t region_name;	/* its number, in this run */
};
extern HIDDEN struct call_tree call_tree;

/* Reads a line of the table of places; false if it is none of these. */
bool read_wanted_row(FILE *file);
bool read_wanted_region(FILE *file);

/* The calls that lead to a row are wanted as well. */
void want_callers(void);

/* Whether the tree of such a row, or of one of this kind, is wanted. */
bool wants_row(enum row_kind kind, uint32_t id);
bool wants_kind(enum row_kind kind);

/* A run begins, in which the region has this number. */
void open_call_tree(uint32_t region_name);

/* The current instruction calls or returns: where its return address is, and which block that leads
 * to if this is known. */
void note_call(uint64_t slot, uint64_t back);
void note_return(uint64_t slot);

/* What was noted last is done: control went from the block `site` to the block `next`. */
void follow_call(struct task *task, uint64_t site, uint64_t next);

/* The frame on top has just begun: it is a call from the block `site`. */
void enter_call(struct task *task, uint64_t site);

/* The frame on top ends. */
void leave_call(struct task *task);

/* The task's own calls are no more, once it leaves the kernel. */
void renew_calls(struct task *task);

void forget_calls(struct task *task);

/* The task executes something in the block: the last call led there, if it has led nowhere yet. */
void reach_block(struct task *task, uint64_t block);

/* The node of what there is no room for. */
uint32_t rest_node(void);

/* The node of what the task executes. */
uint32_t current_node(struct task *task);

#endif
