/*
 * A spot: a block of code, and what has to be known of it whenever control comes to it. A point is
 * always the first instruction of one.
 */
#ifndef PLUGIN_SPOT_H
#define PLUGIN_SPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "common/qemu.h"

/* What has to be known of a block of code, whenever control comes to it. */
struct spot {
	uint64_t first, last;	/* its first and last instruction */
	uint16_t point, points;	/* the points at its first instruction */
	bool interrupt_entry, idle;
	bool call, ret, gate, interrupt_return, halt;	/* what its last instruction is */
};

/* Of the block from the instruction at `first` to `last`, which is at `last_address`. */
struct spot spot_of(uint64_t first, uint64_t last_address, const struct instruction *last);

/* The number of the first instruction after number `first` that is a point, or that of the end. */
size_t up_to_point(struct qemu_plugin_tb *tb, size_t first);

#endif
