/*
 * When a window begins and ends: between the markers of a path, or between two points of the
 * kernel, as QEMU comes to each block of code and each access to memory.
 */
#ifndef PLUGIN_OBSERVATION_H
#define PLUGIN_OBSERVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"

extern HIDDEN bool deaf;	/* some code is not instrumented: no window is told any more */

/* Notes the points that are after the first byte of the instruction at `address`. */
void find_misplaced(uint64_t address, uint64_t length);

void on_begin(unsigned int vcpu, void *data);

void on_end(unsigned int vcpu, void *data);

/* The instruction after a path marker loads from so many bytes into a page. */
void on_path_number(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

/* A path's execution begins, or the one before has ended: which, the next instruction tells. */
void end_path(void);

/* Before each block, with its handle. */
void on_block(unsigned int vcpu, void *data);

void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

#endif
