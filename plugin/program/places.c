/*
 * The table of places, and the place of an address.
 */
#include "program/places.h"

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "program/call_tree.h"
#include "program/code_starts.h"
#include "program/functions.h"
#include "program/windows.h"

enum { MOST_PLACES = 1 << 13 };
static struct place places[MOST_PLACES];
static size_t place_count;
struct place entry_text;
static bool own_functions[ROW_KIND + 1];

bool wake_up_is_known(void)
{
	for (size_t at = 0; at < place_count; at++)
		if (places[at].kind == WAKE_UP)
			return true;
	return false;
}

bool is_own_function(unsigned int kind)
{
	return kind <= ROW_KIND && own_functions[kind];
}

/* Reads a line of another form; `known` tells whether it is one. */
static bool read_other(FILE *file, char kind, bool *known)
{
	*known = true;
	switch (kind) {
	case FUNCTION:
		return read_function(file);
	case INSIDE:
		return read_inside(file);
	case TREE_ROW:
		return read_wanted_row(file);
	case TREE_REGION:
		return read_wanted_region(file);
	case TREE_CALLERS:
		want_callers();
		return true;
	case KERNEL_START:
		return read_kernel_start(file);
	case PAGE_STARTS:
		return read_page_starts(file);
	default:
		*known = false;
		return true;
	}
}

bool read_places(int fd)
{
	FILE *file = lseek(fd, 0, SEEK_SET) ? NULL : fdopen(fd, "r");
	unsigned long long first, end;
	struct place place;
	char kind;
	bool good = true, known;

	if (!file)
		return false;
	while (good && fscanf(file, " %c", &kind) == 1) {
		good = read_other(file, kind, &known);
		if (known)
			continue;
		if (fscanf(file, "%llx %llx %x", &first, &end, &place.id) != 3)
			good = false;
		place.kind = kind;
		place.first = first;
		place.end = end;
		if (place.kind == ROW_FUNCTION && place.id & OWN_WORK)
			own_functions[place.id & ROW_KIND] = true;
		if (place.kind == ENTRY_TEXT)
			entry_text = place;
		else if (place_count == MOST_PLACES)
			good = false;
		else
			places[place_count++] = place;
	}
	good = good && feof(file) && place_count && entry_text.end;
	fclose(file);
	return good;
}

const struct place *place_at(uint64_t address)
{
	size_t low = 0, high = place_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (places[middle].first <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < places[low - 1].end ? &places[low - 1] : NULL;
}

bool is_in(const struct place *place, uint64_t address)
{
	return address >= place->first && address < place->end;
}
