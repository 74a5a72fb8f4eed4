/*
 * Windows between two points of the kernel (kernel/points.h), while a program runs: kernel-wide, so
 * that all that is executed from the one point to the other belongs to them, interrupts too.
 *
 * An instruction that faults is taken back once the kernel has read the fault's error code. A
 * window that began or ended since the fault's entry is corrected then: so one that has ended is
 * told only when the next one begins, or when the run ends.
 */
#ifndef PLUGIN_WINDOWS_H
#define PLUGIN_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/linkage.h"
#include "kernel/points.h"
#include "program/task.h"

enum { LONGEST_REGION = 127 };
enum { FIRST_WINDOW_NAME = 1 << 16 };	/* a window's number as a region of cells, less its own */

struct window {
	char inside[LONGEST_REGION + 1];	/* the region that must be open; or empty */
	uint32_t inside_name;	/* its number */
	uint64_t inside_open;	/* how often it is, in all tasks */
	bool open, has_ended;
	uint64_t begun_at, ended_at;	/* numbers of frames: how many there had been */
	struct counts begin;	/* totals */
	struct counts counts;	/* of the one that has ended */
	uint64_t lines, pages, visits, last_line;	/* of data, in the one that is open */
	uint64_t count, overlapping, loose, outside;	/* in this run */
};
extern HIDDEN struct window windows[MOST_WINDOWS];

/* Calls for each of the windows that have a bit in `set`. */
void each_window(uint32_t set, void (*call)(uint32_t number, const struct counts *now),
		 const struct counts *now);

/* Reads `WINDOW NAME`: the region inside of which a window must begin; false if that is none. */
bool read_inside(FILE *file);

/* A region begins or ends in some task. */
void count_region(uint32_t name, bool begins);

void take_totals(struct counts *from, const struct counts *less);

/* An instruction before the frame of this number was not executed after all. */
void undo_in_windows(uint64_t frame, const struct counts *undone);

/* Whether this number of a region of cells is that of a window that began since that frame. */
bool began_since(uint32_t name, uint64_t frame);

#endif
