/*
 * Exits from blocks: what was executed, and what an interrupt leaves open.
 */
#include "counter/exits.h"

#include <string.h>

#include "arch/arch.h"
#include "common/linkage.h"
#include "counter/pieces.h"
#include "common/return_stack.h"

struct block *current;
uint64_t before;
bool entered;
bool moved;
uint64_t accessed_at;

bool repeating;
uint64_t checks;
uint64_t faults;

/* Where handlers of exceptions begin, as far as it is known. */
enum { MOST_HANDLERS = 16 };
static uint64_t handlers[MOST_HANDLERS];
static unsigned int handler_count;

/* Ends of blocks at which an interrupt or an exception came whose handler has not returned. */
enum { MOST_OPEN = 64 };
static struct {
	struct piece *piece;
	uint64_t last, next, target;	/* addresses, as of the block */
	bool moved;
	bool fault;	/* it was an exception */
} open_ends[MOST_OPEN];
unsigned int open_count;
uint64_t unresolved;

static bool is_handler(uint64_t address)
{
	for (unsigned int i = 0; i < handler_count; i++)
		if (handlers[i] == address)
			return true;
	return false;
}

/* Whether all but the last instruction is all of the block: QEMU may have taken that one back. */
static bool is_cut(const struct block *block, uint64_t executed)
{
	return executed + 1 == block->size && may_be_taken_back(block->last);
}

HOT void learn_handler(const struct block *block, uint64_t executed, uint64_t address)
{
	if (executed == 0 || executed >= block->size || is_kernel(block->start) ||
	    !is_kernel(address) || handler_count == MOST_HANDLERS || is_handler(address) ||
	    is_cut(block, executed))
		return;
	handlers[handler_count++] = address;
}

/* Where the end of the piece leads, if it is a direct jump or call; else to the next one. */
static uint64_t target_of_piece(const struct piece *piece, uint64_t next)
{
	const struct block *block = piece->block;
	bool jumps = block->ending == JUMP || block->ending == CALL;

	return jumps && piece->executed == block->size ? block->target : next;
}

/* Control left the piece for a handler at `handler`. */
static void leave_open(struct piece *piece, uint64_t last, uint64_t next, uint64_t handler)
{
	if (open_count == MOST_OPEN) {
		unresolved++;
		open_count--;
		memmove(open_ends, open_ends + 1, open_count * sizeof(*open_ends));
	}
	open_ends[open_count].piece = piece;
	open_ends[open_count].last = last;
	open_ends[open_count].next = next;
	open_ends[open_count].target = target_of_piece(piece, next);
	open_ends[open_count].moved = moved;
	open_ends[open_count].fault = is_handler(handler);
	open_count++;
}

/* A handler has returned to `address`. */
static void resolve(uint64_t address)
{
	for (unsigned int i = open_count; i-- > 0;) {
		if (open_ends[i].next == address) {
			change(open_ends[i].piece)->on++;
			/* What could not be fetched is what comes after the end. */
			faults += open_ends[i].fault;
		} else if (open_ends[i].last == address) {
			if (!open_ends[i].moved) {
				change(open_ends[i].piece)->undone++;
				faults++;
			}
		} else if (open_ends[i].target == address) {
			faults += open_ends[i].fault;
		} else {
			continue;
		}
		open_count--;
		memmove(open_ends + i, open_ends + i + 1, (open_count - i) * sizeof(*open_ends));
		return;
	}
}

/* Whether control goes from the end of `block`, whose last instruction is at `last`, to `address`
 * without an interrupt. */
static bool leads_to(const struct block *block, uint64_t last, uint64_t address)
{
	switch (block->ending) {
	case NEXT:
		return false;
	case JUMP: case CALL:	/* in 32-bit code addresses wrap */
		return address == block->target || address == (uint32_t)block->target;
	case REPEAT:
		return address == last;
	case ANYWHERE: case CALL_ANYWHERE:
		return is_kernel(last) == is_kernel(address);
	case GATE: case INTERRUPT_RETURN:
		return true;
	}
	return false;
}

/* Whether the last of the first `executed` instructions was executed, though the block was left
 * with it: a `mov` that has made its access to a device. QEMU executes that outside of the block,
 * and an interrupt or the other CPU's turn may follow. */
static bool was_executed(const struct block *block, uint64_t executed)
{
	return accessed_at == before + executed && is_mov(&block->instructions[executed - 1]);
}

/* Whether the block ends with an instruction of the kernel's that leads out of it. */
static bool returns_to_program(const struct block *block)
{
	return is_kernel(block->last) &&
	       (block->ending == INTERRUPT_RETURN || block->ending == GATE);
}

/* All of the block was begun, and control is at `address`. A call that stored its return address
 * was executed, and so was a return that loaded one. A call of the next instruction only asks where
 * it is; return stacks leave it out. */
static void follow_calls(const struct block *block, uint64_t address)
{
	if (block->ending == INTERRUPT_RETURN)
		resume_at(address);
	if (accessed_at != before + block->size)
		return;
	if (block->spot.ret)
		pop_return(address);
	else if (block->spot.call && (block->ending != CALL || block->target != block->end))
		push_return(block->end);
}

HOT void leave(uint64_t executed, uint64_t address)
{
	struct block *block = current;
	uint64_t last = block->last, end = block->end;
	struct piece *piece = &block->whole;
	struct counts *counts;
	bool interrupted;

	if (executed == 0 || executed > block->size) {
		broken |= executed != 0;
		return;
	}
	if (executed < block->size) {
		piece = piece_of(block, executed);
		end = block->start;
		for (uint64_t i = 0; i < executed; i++) {
			last = end;
			end += block->instructions[i].length;
		}
	}
	if (executed == block->size)
		follow_calls(block, address);
	moved |= executed < block->size && was_executed(block, executed);
	touch(piece);
	counts = change(piece);
	counts->count++;
	counts->entered |= entered;
	interrupted = address != end &&
		      (executed < block->size || !leads_to(block, last, address));
	checks += repeating && !moved && address == end;
	repeating = block->ending == REPEAT && executed == block->size && address == last;
	if (address == end)
		counts->on++;
	else if (executed < block->size && !moved &&
		 (address == last || !is_cut(block, executed))) {
		counts->undone++;
		/* One that is executed once more at once did input or output. */
		faults += address != last;
	}
	else if (interrupted)
		leave_open(piece, last, end, address);
	else if (returns_to_program(block) && is_handler(address))
		faults++;	/* what it returned to could not be fetched */
	else if (block->ending == INTERRUPT_RETURN)
		resolve(address);
	entered = interrupted || (address != end && (block->ending == CALL ||
		  block->ending == CALL_ANYWHERE || is_kernel(address) > is_kernel(last)));
}

HOT void iterate(void)
{
	struct piece *piece = &current->whole;
	struct counts *counts;

	touch(piece);
	counts = change(piece);
	counts->count++;
	counts->entered |= entered;
	repeating = true;
	entered = false;
}
