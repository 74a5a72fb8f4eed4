/*
 * The windows of the table, their regions, and what is taken back of them.
 */
#include "program/windows.h"

#include <stddef.h>
#include <string.h>

#include "kernel/passage.h"
#include "kernel/points.h"
#include "program/classes.h"
#include "program/task.h"

struct window windows[MOST_WINDOWS];

void each_window(uint32_t set, void (*call)(uint32_t number, const struct counts *now),
		 const struct counts *now)
{
	for (; set; set &= set - 1)
		call((uint32_t)__builtin_ctz(set), now);
}

bool read_inside(FILE *file)
{
	unsigned int number;
	char name[LONGEST_REGION + 1];

	if (fscanf(file, " %x %127s", &number, name) != 2 || number >= MOST_WINDOWS)
		return false;
	memcpy(windows[number].inside, name, sizeof(name));
	return true;
}

void count_region(uint32_t name, bool begins)
{
	for (uint32_t number = 0; number < MOST_WINDOWS; number++) {
		struct window *window = &windows[number];

		if (!*window->inside || window->inside_name != name)
			continue;
		if (begins && !window->inside_open)
			watched[number].occurrences = 0;
		window->inside_open += begins ? 1 : -(uint64_t)(window->inside_open > 0);
	}
}

void take_totals(struct counts *from, const struct counts *less)
{
	from->steps -= less->steps;
	from->surplus -= less->surplus;
	from->string_bytes -= less->string_bytes;
	from->lines -= less->lines;
	from->pages -= less->pages;
	from->visits -= less->visits;
	from->user -= less->user;
	for (size_t i = 0; i < classes.count; i++)
		from->events[i] -= less->events[i];
}

void undo_in_windows(uint64_t frame, const struct counts *undone)
{
	for (uint32_t number = 0; number < MOST_WINDOWS; number++) {
		struct window *window = &windows[number];

		/* The totals at its begin had it. */
		if (window->open && window->begun_at >= frame)
			take_totals(&window->begin, undone);
		if (window->has_ended && window->begun_at < frame && window->ended_at >= frame)
			take_totals(&window->counts, undone);
	}
}

bool began_since(uint32_t name, uint64_t frame)
{
	return name >= FIRST_WINDOW_NAME &&
	       windows[name - FIRST_WINDOW_NAME].begun_at >= frame;
}
