/*
 * Page faults that no processor takes. An instruction that changes an operand in memory asks a
 * processor once whether it may write there (Intel SDM volume 3, 4.6.1). QEMU executes a load and
 * then a store: where the page is not there, the load faults, and where the kernel then maps a page
 * that may only be read, as the zero page, the store faults again.
 *
 * The first of the two has a row of its own. Only the second shows that it was one: so a fault of a
 * read is held until its task goes on. It was one if the very next instruction begun below it is
 * the same, changes an operand, and faults for writing.
 */
#ifndef PLUGIN_HELD_FAULT_H
#define PLUGIN_HELD_FAULT_H

#include <stdint.h>

#include "program/task.h"

/* The fault on top of the task is known now by its error code and the address of its instruction;
 * `below` is what it interrupted, which still has that instruction. */
void name_fault(struct task *task, const struct counts *below, uint32_t code, uint64_t address);

/* A frame of the task, whose depth is that below it by now, has ended and is held. */
void hold_fault(struct task *task, struct frame *frame, const struct counts *below);

/* The task enters the kernel for work of this kind: only another page fault right after the one
 * that is held tells more of that. */
void go_on(struct task *task, enum row_kind kind);

/* What is held was a fault as any other, if it interrupted something at this depth or above. */
void release_fault(struct task *task, unsigned int depth);

#endif
