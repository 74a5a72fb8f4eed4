/*
 * Whether returns go where a processor expects them to: to the address after the last call that has
 * not returned. A processor keeps these addresses in a return stack of its own (Intel SDM volume 3,
 * "Return Stack Buffer"; AMD's Software Optimization Guides, "Return Address Stack"), which knows
 * nothing of what a program or a kernel stores to the stack in memory. A return to elsewhere is
 * mispredicted; some mitigations make every return such a one.
 *
 * The model keeps the last 32 addresses, and begins empty with each window, or run of a program: a
 * return whose call was before that is no mispredicted one. A return whose call is forgotten,
 * because 32 later ones have not returned, is.
 */
#ifndef PLUGIN_RETURN_STACK_H
#define PLUGIN_RETURN_STACK_H

#include <stdint.h>

#include "common/linkage.h"

extern HIDDEN uint64_t mispredicted_returns;	/* since the stack was cleared */

void clear_return_stack(void);

/* A call was executed; the instruction after it is at `next`. */
void push_return(uint64_t next);

/* A return was executed, and the next instruction is at `address`: where the return led, or where
 * an interrupt's handler begins. */
void pop_return(uint64_t address);

/* A return was executed, to an address that is not known. */
void forget_return(void);

/* A handler has returned to `address`. If a return had led there before the interrupt came, that
 * return is no mispredicted one. */
void resume_at(uint64_t address);

#endif
