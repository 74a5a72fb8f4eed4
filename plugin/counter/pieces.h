/*
 * Code as the counter keeps it: blocks, and how often each was executed in a window, or the
 * beginning of it, where it was left early.
 *
 * Counts are kept as they were at the last stamp, so that what comes after it can be left out.
 */
#ifndef PLUGIN_PIECES_H
#define PLUGIN_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "common/linkage.h"
#include "common/qemu.h"
#include "kernel/spot.h"

struct counts {
	uint64_t count;		/* times that it was executed */
	uint64_t on;		/* of these, control went on to the address after it */
	uint64_t undone;	/* of these, its last instruction was not executed after all */
	bool entered;		/* by a call, an interrupt, or from user mode: a function begins */
};

struct piece {			/* the beginning of a block, as far as it was executed */
	struct block *block;
	uint32_t executed;	/* instructions */
	uint32_t window;	/* in which the counts were begun */
	struct counts now;
	uint64_t stamp;		/* the number of one; if it is the last one, the counts were ... */
	struct counts at_stamp;	/* ... this at it; else they are what they were */
	struct piece *next;	/* of the same block */
};

struct block {			/* begins a line of the host's cache; the order is that of use */
	uint64_t start, end;	/* virtual addresses */
	uint64_t last;		/* the last instruction's */
	uint64_t target;	/* of a JUMP or CALL */
	uint32_t size;		/* instructions */
	enum ending ending;
	bool stamp;		/* ends with rdtsc, of a program: the kernel has some too */
	bool known;		/* was written to the stream, as ... */
	uint64_t number;
	struct block *next;	/* in its bucket */
	struct piece whole;
	struct spot spot;
	struct instruction instructions[];
};

/* A handle is a block's address, and in its lowest bits what is asked at each execution. */
enum { IN_KERNEL = 1, HALTS = 2, ITERATES = 4, ASKED = 7 };

extern HIDDEN uint64_t known_blocks;

extern HIDDEN uint32_t window;		/* its number, from 1 */
extern HIDDEN uint64_t stamps;		/* so far, in all windows */
extern HIDDEN bool broken;		/* a limit is reached: this window is not told */

extern HIDDEN struct piece **touched;	/* in this window, in the order of the first execution */
extern HIDDEN size_t touched_count;

/* The block of `size` instructions from the one with number `first` on. */
struct block *block_of(struct qemu_plugin_tb *tb, size_t first, size_t size);

void *handle_of(struct block *block);

static inline struct block *block_by(uintptr_t handle)
{
	return (struct block *)(handle & ~(uintptr_t)ASKED);
}

/* The first `executed` instructions of the block. */
struct piece *piece_of(struct block *block, uint32_t executed);

/* Begins the piece's counts of this window. */
void touch(struct piece *piece);

/* The counts, to be changed. If no other stamp comes, what they were at the last one holds. */
struct counts *change(struct piece *piece);

/* What it had been counted at the last stamp. */
const struct counts *counts_of(const struct piece *piece);

#endif
