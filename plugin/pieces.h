/*
 * Code as the counter keeps it: blocks, and how often each was executed in a window, or the
 * beginning of it, where it was left early.
 *
 * Counts are kept as they were at the last stamp, so that what comes after it can be left out.
 */
#ifndef PLUGIN_PIECES_H
#define PLUGIN_PIECES_H

#include "common.h"
#include "points.h"
#include "x86.h"

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
	struct counts at_stamp;	/* what they were at the stamp with the number ... */
	uint64_t stamp;		/* ..., if that is the last one; else they are what they were */
	struct piece *next;	/* of the same block */
};

struct block {
	uint64_t start, end;	/* virtual addresses */
	uint64_t last;		/* the last instruction's */
	uint64_t target;	/* of a JUMP or CALL */
	enum ending ending;
	bool stamp;		/* ends with rdtsc */
	struct spot spot;
	bool known;		/* was written to the stream, as ... */
	uint64_t number;
	struct piece whole;
	struct block *next;	/* in its bucket */
	uint32_t size;		/* instructions */
	struct instruction instructions[];
};

enum { BUCKETS = 1 << 16 };
static struct block *blocks[BUCKETS];
static uint64_t known_blocks;
static uint64_t memory_used;
enum { MOST_MEMORY = 1 << 30 };	/* a guest that makes new code for ever gets no further */

static uint32_t window;		/* its number, from 1 */
static uint64_t stamps;		/* so far, in all windows */
static bool broken;		/* a limit is reached: this window is not told */

static struct piece **touched;	/* in this window, in the order of the first execution */
static size_t touched_count, touched_room;

/* The block's entry, made when it is new, for as long as QEMU lives; NULL without memory. */
static struct block *intern(const struct block *like)
{
	size_t bytes = sizeof(*like) + like->size * sizeof(*like->instructions);
	struct block **bucket = &blocks[(like->start * 0x9e3779b97f4a7c15u) >> 48];
	struct block *block;

	for (block = *bucket; block; block = block->next)
		if (block->start == like->start && block->size == like->size &&
		    !memcmp(block->instructions, like->instructions,
			    like->size * sizeof(*like->instructions)))
			return block;
	memory_used += bytes;
	block = memory_used < MOST_MEMORY ? malloc(bytes) : NULL;
	if (!block)
		return NULL;
	memcpy(block, like, bytes);
	block->whole.block = block;
	block->next = *bucket;
	*bucket = block;
	return block;
}

/* The block of `size` instructions from the one with number `first` on. */
static struct block *block_of(struct qemu_plugin_tb *tb, size_t first, size_t size)
{
	static struct {
		struct block block;
		struct instruction room[LARGEST_BLOCK];
	} scratch;
	struct block *like = &scratch.block;
	const struct instruction *last;

	memset(&scratch, 0, sizeof(scratch));
	if (size == 0 || size > LARGEST_BLOCK)
		return NULL;
	like->size = size;
	like->start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, first));
	like->end = like->start;
	for (uint32_t i = 0; i < like->size; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, first + i);

		like->instructions[i].length = bytes_of(insn, like->instructions[i].bytes);
		like->last = like->end;
		like->end += like->instructions[i].length;
	}
	last = &like->instructions[like->size - 1];
	like->ending = ending_of(last);
	like->target = target_of(last, like->end);
	like->stamp = is_stamp(last);
	like->spot = spot_of(like->start, like->last, last);
	like->whole.executed = like->size;
	return intern(like);
}

/* The first `executed` instructions of the block. */
static struct piece *piece_of(struct block *block, uint32_t executed)
{
	struct piece *piece = &block->whole;

	while (piece && piece->executed != executed)
		piece = piece->next;
	if (piece)
		return piece;
	piece = calloc(1, sizeof(*piece));
	if (!piece) {
		broken = true;
		return &block->whole;
	}
	piece->block = block;
	piece->executed = executed;
	piece->next = block->whole.next;
	block->whole.next = piece;
	return piece;
}

/* Begins the piece's counts of this window. */
static void touch(struct piece *piece)
{
	if (piece->window == window)
		return;
	if (touched_count == touched_room) {
		size_t room = touched_room ? 2 * touched_room : 1024;
		struct piece **more = realloc(touched, room * sizeof(struct piece *));

		if (!more) {
			broken = true;
			return;
		}
		touched = more;
		touched_room = room;
	}
	piece->window = window;
	piece->stamp = stamps;
	piece->now = piece->at_stamp = (struct counts){ 0 };
	touched[touched_count++] = piece;
}

/* The counts, to be changed. If no other stamp comes, what they were at the last one holds. */
static struct counts *change(struct piece *piece)
{
	if (piece->stamp != stamps) {
		piece->stamp = stamps;
		piece->at_stamp = piece->now;
	}
	return &piece->now;
}

/* What it had been counted at the last stamp. */
static const struct counts *counts_of(const struct piece *piece)
{
	return piece->stamp == stamps ? &piece->at_stamp : &piece->now;
}

#endif
