/*
 * The points at which windows begin and end, as QEMU comes to them.
 */
#include "program/window_marks.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kernel/passage.h"
#include "kernel/points.h"
#include "program/account.h"
#include "program/cells.h"
#include "program/flow.h"
#include "program/regions.h"
#include "program/task.h"
#include "program/windows.h"

enum { MOST_TOLD = 1024 };	/* of a window in a run; others are only numbered */

static void put_window(uint32_t number, const struct counts *counts, bool ended)
{
	const uint64_t numbers[] = {
		number, counts->steps, counts->surplus, counts->user, counts->string_bytes,
		counts->lines, counts->pages, counts->visits, ended,
	};

	put_record(WINDOW, numbers, sizeof(numbers) / sizeof(*numbers));
	put_events(counts->events);
}

/* Tells the window of this number that ended last. */
static void tell_window(uint32_t number)
{
	struct window *window = &windows[number];

	if (window->has_ended && window->count <= MOST_TOLD)
		put_window(number, &window->counts, true);
	window->has_ended = false;
}

static void end_window(uint32_t number, const struct counts *now)
{
	struct window *window = &windows[number];

	if (!window->open) {
		window->loose++;
		return;
	}
	note_region(FIRST_WINDOW_NAME + number, false);
	window->open = false;
	window->has_ended = true;
	window->ended_at = account.frames;
	window->counts = *now;
	take_totals(&window->counts, &window->begin);
	window->counts.lines = window->lines;
	window->counts.pages = window->pages;
	window->counts.visits = window->visits;
}

static void begin_window(uint32_t number, const struct counts *now)
{
	struct window *window = &windows[number];

	if (*window->inside && !window->inside_open) {
		window->outside++;
		return;
	}
	if (window->open && !begin_anew(1u << number)) {
		window->overlapping++;
		return;
	}
	if (!window->open) {
		tell_window(number);
		note_region(FIRST_WINDOW_NAME + number, true);
		window->open = true;
		window->count++;
	}
	points_opened(1u << number);
	/* A number as a frame's, for its lines. */
	window->begun_at = ++account.frames;
	window->begin = *now;
	window->lines = window->pages = window->visits = 0;
	window->last_line = NO_LINE;
}

void on_spot(unsigned int vcpu, void *data)
{
	const struct passes passes = pass(data);
	struct reading now;
	struct counts counts;

	(void)vcpu;
	if (!account.open || !(passes.begins | passes.ends))
		return;
	now = reading(0);
	settle(&now);
	counts = totals(&now);
	each_window(passes.ends, end_window, &counts);
	each_window(passes.begins, begin_window, &counts);
}

void on_return_address(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)info;
	(void)data;
	points_access(address);
}

static void forget_window(uint32_t number, const struct counts *now)
{
	struct window *window = &windows[number];

	(void)now;
	window->open = window->has_ended = false;
	window->count = window->overlapping = window->loose = window->outside = 0;
	window->inside_open = 0;
	window->inside_name = *window->inside ? number_of(window->inside) : NOTHING;
}

void open_windows(void)
{
	each_window(chosen, forget_window, NULL);
	memset(watched, 0, sizeof(watched));
}

void close_window(uint32_t number, const struct counts *now)
{
	struct window *window = &windows[number];
	const uint64_t passed[] = {
		number, window->count, window->overlapping, window->loose, window->outside,
		watched[number].elsewhere, watched[number].hidden,
	};

	tell_window(number);
	if (window->open) {
		struct counts counts = *now;

		take_totals(&counts, &window->begin);
		counts.lines = window->lines;
		counts.pages = window->pages;
		counts.visits = window->visits;
		put_window(number, &counts, false);
	}
	window->open = false;
	put_record(PASSED, passed, sizeof(passed) / sizeof(*passed));
}
