/*
 * Counters that instructions advance before they are executed: in the code that QEMU makes for
 * them, where it can.
 */
#ifndef PLUGIN_STEPS_H
#define PLUGIN_STEPS_H

#include <stdint.h>

#include "common/linkage.h"
#include "common/qemu.h"

extern HIDDEN uint64_t *step_counters;

static inline uint64_t steps_of(unsigned int counter)
{
	return step_counters[counter];
}

/* Before any code is translated. */
void make_counters(const qemu_info_t *info);

/* Once there are CPUs. */
void find_counters(void);

/* Has a counter advanced by `number` before each execution of the instruction. */
void advance(struct qemu_plugin_insn *insn, unsigned int counter, uintptr_t number);

#endif
