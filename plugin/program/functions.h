/*
 * Functions of the program's that are regions: from their first instruction to the return to who
 * called them. Programs written for Callgrind's --toggle-collect are measured so.
 *
 * A program is placed anywhere, so a function is known by its bytes and where in a page they begin.
 * Its end is the return that takes the address which the call stored.
 */
#ifndef PLUGIN_FUNCTIONS_H
#define PLUGIN_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/linkage.h"
#include "common/qemu.h"
#include "program/regions.h"
#include "program/task.h"

enum { MOST_FUNCTIONS = 1024, KNOWN_BYTES = 32 };

struct function {
	uint64_t in_page;	/* where it begins */
	size_t length;		/* bytes that are known of it */
	uint8_t bytes[KNOWN_BYTES];
	char name[LONGEST_NAME + 1];
};
extern HIDDEN size_t function_count;

/* Reads `OFFSET BYTES NAME`, hexadecimal, from the table of places; false if that is none. */
bool read_function(FILE *file);

/* The function that begins with this block, as far as the block goes; NULL if none does. */
const struct function *function_at(struct qemu_plugin_tb *tb, uint64_t start);

/* A function begins, which the call that stored at `stack->call` called. */
void begin_function(struct region_stack *stack, const struct function *function,
		    const struct counts *now);

/* Whether a return that takes its address from `slot` leaves the function that is open. */
bool returns_from_region(const struct region_stack *stack, uint64_t slot);

/* The function that is open ends. */
void end_function(struct region_stack *stack, const struct counts *now);

#endif
