/*
 * How control leaves a block, and so which of its instructions were executed.
 *
 * A block is a translated one: instructions that are executed in a row. QEMU leaves a block early
 * if an instruction faults, or has to be executed once more by itself (input and output under the
 * exact clock); a counter that each instruction advances before it is executed tells how far a
 * block came. Where the block after it begins tells why:
 *
 *  - at the address after the last instruction: that one was executed;
 *  - at the target of the last instruction, a jump: likewise;
 *  - anywhere else: an interrupt or an exception came. In the middle of a block it is an exception,
 *    and the last instruction was not executed, though it advanced the counter; but one that has
 *    made its only access to memory was. At the block's end it may be either; that shows when the
 *    handler returns: to the instruction itself after an exception, to the next one after an
 *    interrupt. A handler that does not return within the window leaves the question open, and the
 *    window says how many are.
 *
 * A repeated string instruction ends its block and is executed once an iteration, and once more to
 * see that nothing is left to do. It is retired when control goes on to the address after it.
 *
 * An instruction whose page is not present is not even begun: no block of it is, and after the jump
 * or the return that leads to it the exception's handler begins. Where handlers of exceptions begin
 * is learned from the exceptions that a program's instructions in the middle of a block cause.
 */
#ifndef PLUGIN_LEAVING_H
#define PLUGIN_LEAVING_H

#include "pieces.h"

static struct block *current;	/* is being executed */
static uint64_t before;		/* the step counter when it was begun */
static bool entered;		/* how it was come to, see struct counts */
static bool moved;		/* its last instruction has made all accesses that it makes */
static uint64_t accessed_at;	/* the step counter at the last access */

static bool repeating;		/* a string instruction is to be executed once more */
static uint64_t checks;		/* executions that only saw that it is done */
static uint64_t faults;		/* exceptions: instructions not executed; most were begun */

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
static unsigned int open_count;
static uint64_t unresolved;	/* that no longer fit in */

static bool is_handler(uint64_t address)
{
	for (unsigned int i = 0; i < handler_count; i++)
		if (handlers[i] == address)
			return true;
	return false;
}

/* The block ended at its `executed`th instruction, not its last, and the next one is at `address`.
 * A program's instruction is left so by an exception only: devices are the kernel's, and what is
 * executed once more is so in the program. */
static void learn_handler(const struct block *block, uint64_t executed, uint64_t address)
{
	if (executed == 0 || executed >= block->size || is_kernel(block->start) ||
	    !is_kernel(address) || handler_count == MOST_HANDLERS || is_handler(address))
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

/* Control left the current block after `executed` instructions; the next block is at `address`. */
static void leave(uint64_t executed, uint64_t address)
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
	else if (executed < block->size && !moved) {
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

#endif
