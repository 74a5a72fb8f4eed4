/*
 * Blocks by their bytes, and the pieces of each.
 */
#include "counter/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "common/api.h"
#include "common/qemu.h"
#include "kernel/spot.h"

enum { BUCKETS = 1 << 16, HOST_LINE = 64 };
static struct block *blocks[BUCKETS];
uint64_t known_blocks;
static uint64_t memory_used;
enum { MOST_MEMORY = 1 << 30 };	/* a guest that makes new code for ever gets no further */

uint32_t window;
uint64_t stamps;
bool broken;

struct piece **touched;
size_t touched_count;
static size_t touched_room;

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
	if (memory_used >= MOST_MEMORY || posix_memalign((void **)&block, HOST_LINE, bytes))
		return NULL;
	memcpy(block, like, bytes);
	block->whole.block = block;
	block->next = *bucket;
	*bucket = block;
	return block;
}

struct block *block_of(struct qemu_plugin_tb *tb, size_t first, size_t size)
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
		like->instructions[i] = instruction_of(qemu_plugin_tb_get_insn(tb, first + i));
		like->last = like->end;
		like->end += like->instructions[i].length;
	}
	last = &like->instructions[like->size - 1];
	like->ending = ending_of(last);
	like->target = target_of(last, like->end);
	like->stamp = is_stamp(last) && !is_kernel(like->start);
	like->spot = spot_of(like->start, like->last, last);
	like->whole.executed = like->size;
	return intern(like);
}

void *handle_of(struct block *block)
{
	uintptr_t asked = is_kernel(block->start) ? IN_KERNEL : 0;

	if (block->spot.halt)
		asked |= HALTS;
	if (block->size == 1 && block->ending == REPEAT)
		asked |= ITERATES;
	return (void *)((uintptr_t)block | asked);
}

struct piece *piece_of(struct block *block, uint32_t executed)
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

void touch(struct piece *piece)
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

struct counts *change(struct piece *piece)
{
	if (piece->stamp != stamps) {
		piece->stamp = stamps;
		piece->at_stamp = piece->now;
	}
	return &piece->now;
}

const struct counts *counts_of(const struct piece *piece)
{
	return piece->stamp == stamps ? &piece->at_stamp : &piece->now;
}
