/*
 * Whether control passes a point now: which of the chosen windows begin there, and which end. A
 * plugin chooses windows, and calls pass() before each block of code, with its spot.
 */
#ifndef PLUGIN_PASSAGE_H
#define PLUGIN_PASSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"
#include "kernel/points.h"
#include "kernel/spot.h"

extern HIDDEN uint32_t chosen;	/* the windows that are looked for, a bit each */
extern HIDDEN const struct spot *before_this;	/* the block executed last */
extern HIDDEN uint64_t last_access;	/* the place in memory accessed last */
extern HIDDEN uint64_t halts;	/* times that the CPU was told to wait */
struct watched {		/* of each window: */
	uint64_t elsewhere;	/* points that came for another reason, or in another task */
	uint64_t hidden;	/* points at which an interrupt hid where control came from */
	uint64_t task_at_begin;	/* if it is open */
	uint32_t occurrences;	/* begins since begins count */
};
extern HIDDEN struct watched watched[MOST_WINDOWS];

/* To be told each access to memory: a call's is the place of its return address. */
static inline void points_access(uint64_t address)
{
	last_access = address;
}

/* The windows that begin, and those that end; a bit each. */
struct passes {
	uint32_t begins, ends;
};

void choose_windows(uint32_t windows);

/* To be told the accesses of the instruction that switches_task(). */
void on_task_switch(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

/* To be told that begins count from here on, ... */
void points_counted(void);

/* ... and that these windows were opened. */
void points_opened(uint32_t windows);

bool is_chosen(const struct point *point);

/* Control comes to `next`, which the caller keeps: which of the chosen windows begin there, and
 * which end. */
struct passes pass(const struct spot *next);

/* Control comes to `next` while no window is chosen, after a block that is no halt, or where halts
 * are not counted. Why the kernel executes need not be found out: a program announces a path. */
static inline void pass_unseen(const struct spot *next)
{
	before_this = next;
	last_access = 0;
}

#endif
