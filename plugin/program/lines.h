/*
 * Lines of data, of 64 bytes each, and pages, of 4 KiB, that the kernel touches: each once a frame,
 * so that a system call's are those of one execution of it. Counted only if the host asks for it,
 * since that takes a look at each access to memory.
 *
 * A table has the lines and pages of all frames, each with its frame's number. Lines of frames
 * that have ended stay in it; when it is half full, it is made anew from those still open.
 */
#ifndef PLUGIN_LINES_H
#define PLUGIN_LINES_H

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
	struct touched_line last;
};
extern HIDDEN struct touched touched;

/* The kernel accesses this address for a frame, which may be the frame's first access to its line,
 * and then to its page. */
void touch_line(uint64_t address, uint64_t frame, uint64_t *lines, uint64_t *pages);

#endif
