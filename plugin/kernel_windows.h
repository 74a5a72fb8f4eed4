/*
 * Windows between two points of the kernel (points.h), while a program runs: kernel-wide, so that
 * all that is executed from the one point to the other belongs to them, interrupts too.
 *
 * An instruction that faults is taken back once the kernel has read the fault's error code. A
 * window that began or ended since the fault's entry is corrected then: so one that has ended is
 * told only when the next one begins, or when the run ends.
 */
#ifndef PLUGIN_KERNEL_WINDOWS_H
#define PLUGIN_KERNEL_WINDOWS_H

#include "points.h"
#include "task.h"

enum { LONGEST_REGION = 127 };
enum { FIRST_WINDOW_NAME = 1 << 16 };	/* a window's number as a region of cells, less its own */

static struct kernel_window {
	char inside[LONGEST_REGION + 1];	/* the region that must be open; or empty */
	uint32_t inside_name;	/* its number */
	uint64_t inside_open;	/* how often it is, in all tasks */
	bool open, has_ended;
	uint64_t begun_at, ended_at;	/* numbers of frames: how many there had been */
	struct counts begin;	/* totals */
	struct counts counts;	/* of the one that has ended */
	uint64_t lines, pages;	/* of data, in the one that is open */
	uint64_t count, overlapping, loose, outside;	/* in this run */
} kernel_windows[MOST_WINDOWS];

/* Calls for each of the windows that have a bit in `set`. */
static void each_window(uint32_t set, void (*call)(uint32_t number, const struct counts *now),
			const struct counts *now)
{
	for (; set; set &= set - 1)
		call((uint32_t)__builtin_ctz(set), now);
}

/* Reads `WINDOW NAME`: the region inside of which a window must begin; false if that is none. */
static bool read_inside(FILE *file)
{
	unsigned int number;
	char name[LONGEST_REGION + 1];

	if (fscanf(file, " %x %127s", &number, name) != 2 || number >= MOST_WINDOWS)
		return false;
	memcpy(kernel_windows[number].inside, name, sizeof(name));
	return true;
}

/* A region begins or ends in some task. */
static void count_region(uint32_t name, bool begins)
{
	for (uint32_t number = 0; number < MOST_WINDOWS; number++) {
		struct kernel_window *window = &kernel_windows[number];

		if (!*window->inside || window->inside_name != name)
			continue;
		if (begins && !window->inside_open)
			watched[number].occurrences = 0;
		window->inside_open += begins ? 1 : -(uint64_t)(window->inside_open > 0);
	}
}

static void take_totals(struct counts *from, const struct counts *less)
{
	from->steps -= less->steps;
	from->surplus -= less->surplus;
	from->string_bytes -= less->string_bytes;
	from->user -= less->user;
	for (size_t i = 0; i < classes.count; i++)
		from->events[i] -= less->events[i];
}

/* An instruction before the frame of this number was not executed after all. */
static void undo_in_windows(uint64_t frame, const struct counts *undone)
{
	for (uint32_t number = 0; number < MOST_WINDOWS; number++) {
		struct kernel_window *window = &kernel_windows[number];

		/* The totals at its begin had it. */
		if (window->open && window->begun_at >= frame)
			take_totals(&window->begin, undone);
		if (window->has_ended && window->begun_at < frame && window->ended_at >= frame)
			take_totals(&window->counts, undone);
	}
}

/* Whether this number of a region of cells is that of a window that began since that frame. */
static bool began_since(uint32_t name, uint64_t frame)
{
	return name >= FIRST_WINDOW_NAME &&
	       kernel_windows[name - FIRST_WINDOW_NAME].begun_at >= frame;
}

#endif
