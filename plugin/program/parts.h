/*
 * The rows of a run once more, by whose work they are: the same counts as those of the run's rows.
 */
#ifndef PLUGIN_PARTS_H
#define PLUGIN_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "program/task.h"

enum { MOST_PARTS = 1 << 13 };

/* A row of one owner's: a process, or a thread. */
struct part {
	uint64_t owner;
	struct row row;
};

struct parts {
	struct part all[MOST_PARTS];
	uint32_t count;
};

/* Adds to a row of an owner's. False if there is no room for it. */
bool enter_part(struct parts *parts, uint64_t owner, const struct row *more);

#endif
