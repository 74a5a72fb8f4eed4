/*
 * Lines of data, of 64 bytes each, and pages, of 4 KiB, that the kernel touches: each once a frame,
 * so that a system call's are those of one execution of it. And visits, of the kernel and of
 * programs: accesses to another line than the one that the frame accessed last, so that following a
 * list of a thousand lines twice is two thousand. Counted only if the host asks for it, since that
 * takes a look at each access to memory.
 *
 * A table has the lines and pages of all frames, each with its frame's number. Lines of frames
 * that have ended stay in it; when it is half full, it is made anew from those still open.
 */
#ifndef PLUGIN_LINES_H
#define PLUGIN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/linkage.h"

struct touched_line {
	uint64_t line, frame;	/* no frame is 0; of a page, the line is its complement */
};

struct touched {
	uint64_t wanted;
	struct touched_line *lines;
	size_t room, used;
};
extern HIDDEN struct touched touched;

#define NO_LINE UINT64_MAX

/* Whether an access is to another line than `*last`, which becomes that line. */
static inline bool visit_line(uint64_t *last, uint64_t address)
{
	const bool is_other = *last != address >> 6;

	*last = address >> 6;
	return is_other;
}

/* The kernel accesses this address for a frame, which may be the frame's first access to its line,
 * and then to its page. */
void touch_line(uint64_t address, uint64_t frame, uint64_t *lines, uint64_t *pages);

#endif
