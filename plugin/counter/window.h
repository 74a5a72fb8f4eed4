/*
 * One window: what is counted in it up to its last stamp, and how that is written, in the format of
 * docs/reference/count-format.md.
 */
#ifndef PLUGIN_WINDOW_H
#define PLUGIN_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"

extern HIDDEN bool halfway;		/* it accesses two places, and has accessed one */

void clear_window(void);

/* What is counted after the last stamp does not belong to the window. */
void stamp(void);

/* An access of the window's; `string` says what the instruction accesses, as string_accesses(). */
void count_access(uint64_t address, uint64_t bytes, bool store, uintptr_t string);

enum tag { BLOCK = 1, PATH, WINDOW, AGAIN, BROKEN, BEGINS_COUNT, NO_END, LOOSE };

void tell_window(void);

void write_window(void);

#endif
