/*
 * Sets of addresses: open addressing, at most half full.
 */
#include "counter/set.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FIRST_SIZE = 1 << 10, LARGEST_SIZE = 1 << 22 };

static size_t place_of(const struct set *set, uint64_t value)
{
	size_t place = (value * 0x9e3779b97f4a7c15u) >> 32 & (set->size - 1);

	while (set->places[place].window == set->window && set->places[place].value != value)
		place = (place + 1) & (set->size - 1);
	return place;
}

static bool grow(struct set *set)
{
	struct set larger = { .size = set->size ? 2 * set->size : FIRST_SIZE };

	if (larger.size > LARGEST_SIZE)
		return false;
	larger.places = calloc(larger.size, sizeof(*larger.places));
	if (!larger.places)
		return false;
	larger.window = set->window;
	larger.filled = set->filled;
	for (size_t i = 0; i < set->size; i++) {
		if (set->places[i].window == set->window)
			larger.places[place_of(&larger, set->places[i].value)] = set->places[i];
	}
	free(set->places);
	*set = larger;
	return true;
}

enum inserted insert(struct set *set, uint32_t window, uint64_t value)
{
	size_t place;

	if (set->window != window) {
		set->window = window;
		set->filled = 0;
	}
	if (2 * set->filled >= set->size && !grow(set))
		return NO_ROOM;
	place = place_of(set, value);
	if (set->places[place].window == window)
		return OLD;
	set->places[place].window = window;
	set->places[place].value = value;
	set->filled++;
	return NEW;
}
