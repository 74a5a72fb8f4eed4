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
 * Before an instruction that goes on in another page a block ends, though that instruction may have
 * been announced with it (may_be_taken_back()). So to have come as far as that is a block's end.
 *
 * A repeated string instruction ends its block and is executed once an iteration, and once more to
 * see that nothing is left to do. It is retired when control goes on to the address after it.
 *
 * An instruction whose page is not present is not even begun: no block of it is, and after the jump
 * or the return that leads to it the exception's handler begins. Where handlers of exceptions begin
 * is learned from the exceptions that a program's instructions in the middle of a block cause.
 */
#ifndef PLUGIN_EXITS_H
#define PLUGIN_EXITS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"
#include "counter/pieces.h"

extern HIDDEN struct block *current;	/* is being executed */
extern HIDDEN uint64_t before;		/* the step counter when it was begun */
extern HIDDEN bool entered;		/* how it was come to, see struct counts */
extern HIDDEN bool moved;	/* its last instruction has made all accesses that it makes */
extern HIDDEN uint64_t accessed_at;	/* the step counter at the last access */

extern HIDDEN bool repeating;		/* a string instruction is to be executed once more */
extern HIDDEN uint64_t checks;		/* executions that only saw that it is done */
extern HIDDEN uint64_t faults;		/* exceptions: instructions not executed; most were begun */

/* Ends of blocks at which an interrupt or an exception came whose handler has not returned; and how
 * many more there were than places for them. */
extern HIDDEN unsigned int open_count;
extern HIDDEN uint64_t unresolved;

/* The block ended at its `executed`th instruction, not its last, and the next one is at `address`.
 * A program's instruction is left so by an exception only: devices are the kernel's, and what is
 * executed once more is so in the program. */
void learn_handler(const struct block *block, uint64_t executed, uint64_t address);

/* Control left the current block after `executed` instructions; the next block is at `address`. */
void leave(uint64_t executed, uint64_t address);

/* The current block, a string instruction, was executed and is once more: as leave() counts it. */
void iterate(void);

#endif
