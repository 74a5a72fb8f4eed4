/*
 * The table of lines, made anew when it is half full.
 */
#include "program/lines.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/linkage.h"
#include "kernel/points.h"
#include "program/task.h"
#include "program/windows.h"

enum { LEAST_LINES = 1 << 16, MOST_LINES = 1 << 23 };

struct touched touched;

static struct touched_line *place_of_line(const struct touched_line *line)
{
	size_t at = (line->line * 0x9e3779b97f4a7c15u ^ line->frame * 0xc2b2ae3d27d4eb4fu) >> 24;

	for (at &= touched.room - 1; touched.lines[at].frame; at = (at + 1) & (touched.room - 1))
		if (touched.lines[at].line == line->line && touched.lines[at].frame == line->frame)
			break;
	return &touched.lines[at];
}

static int by_number(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

/* The numbers of all open frames and windows, sorted, which the caller frees; NULL without
 * memory. */
static uint64_t *open_frames(size_t *count)
{
	size_t most = account.task_count * (MOST_FRAMES + 1) + MOST_WINDOWS;
	uint64_t *numbers = malloc(most * sizeof(*numbers));

	*count = 0;
	for (size_t at = 0; numbers && at < MOST_TASKS; at++) {
		const struct task *task = account.tasks[at];

		if (!task)
			continue;
		numbers[(*count)++] = task->number;
		for (unsigned int i = 0; i < task->depth; i++)
			numbers[(*count)++] = task->frames[i].number;
	}
	for (size_t at = 0; numbers && at < MOST_WINDOWS; at++)
		if (windows[at].open)
			numbers[(*count)++] = windows[at].begun_at;
	if (numbers)
		qsort(numbers, *count, sizeof(*numbers), by_number);
	return numbers;
}

/* A table with room, of the lines of the frames that are open. */
static bool renew_lines(void)
{
	struct touched_line *old = touched.lines;
	size_t old_room = touched.room, count;
	uint64_t *open = open_frames(&count);
	size_t kept = 0;

	if (!open)
		return false;
	for (size_t i = 0; i < old_room; i++)
		if (old[i].frame && !bsearch(&old[i].frame, open, count, sizeof(*open), by_number))
			old[i].frame = 0;
		else
			kept += old[i].frame != 0;
	free(open);
	for (touched.room = LEAST_LINES; touched.room < 4 * kept;)
		touched.room *= 2;
	touched.lines = touched.room <= MOST_LINES ? calloc(touched.room, sizeof(*old)) : NULL;
	touched.used = kept;
	for (size_t i = 0; touched.lines && i < old_room; i++)
		if (old[i].frame)
			*place_of_line(&old[i]) = old[i];
	free(old);
	return touched.lines != NULL;
}

/* Whether it is the frame's first access to the line, or page. */
static bool is_first(struct touched_line line)
{
	struct touched_line *place;

	if (touched.used >= touched.room / 2 && !renew_lines()) {
		touched.room = touched.used = 0;
		lose(NO_MEMORY);
		return false;
	}
	place = place_of_line(&line);
	if (place->frame)
		return false;
	*place = line;
	touched.used++;
	return true;
}

HOT void touch_line(uint64_t address, uint64_t frame, uint64_t *lines, uint64_t *pages)
{
	const struct touched_line line = { .line = address >> 6, .frame = frame };
	const struct touched_line page = { .line = ~(address >> 12), .frame = frame };

	if (!is_first(line))
		return;
	++*lines;
	*pages += is_first(page);
}
