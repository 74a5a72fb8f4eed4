/*
 * Sets of addresses, of which there is one for each window: a set is emptied by asking it for a
 * later window, which costs nothing.
 */
#ifndef PLUGIN_SET_H
#define PLUGIN_SET_H

#include <stddef.h>
#include <stdint.h>

struct set {
	struct { uint64_t value; uint32_t window; } *places;
	size_t size, filled;	/* size is a power of two */
	uint32_t window;	/* whose values it holds */
};

enum inserted { OLD, NEW, NO_ROOM };

/* Inserts a value into the set of this window; windows are numbered from 1 and never go back. */
enum inserted insert(struct set *set, uint32_t window, uint64_t value);

#endif
