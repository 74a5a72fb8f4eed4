/*
 * The spots of a plugin that keeps nothing else of a block of code.
 */
#ifndef PLUGIN_SPOT_TABLE_H
#define PLUGIN_SPOT_TABLE_H

#include <stddef.h>

#include "common/qemu.h"
#include "kernel/spot.h"

/* The spot of the instructions from number `first` to before number `end`. */
struct spot *spot_between(struct qemu_plugin_tb *tb, size_t first, size_t end);

#endif
