/*
 * The probes' markers: instructions that do nothing, and announce what comes next. What they look
 * like is the architecture's.
 */
#ifndef PLUGIN_MARKER_H
#define PLUGIN_MARKER_H

#include <stdint.h>

enum marker {
	NO_MARKER,
	BEGIN_MARKER, END_MARKER,	/* of a window of a path */
	PATH_MARKER,
	PROGRAM_BEGIN_MARKER, PROGRAM_END_MARKER,	/* of a run of the user's program */
	REGION_BEGIN_MARKER, REGION_END_MARKER,	/* of a region of it: include/pathmeter.h */
	EXPECTED_MARKER, UNEXPECTED_MARKER,	/* what it expected of a region held, or did not */
	MARKERS
};

/*
 * The instruction after a path marker loads a byte of a page, as far from its beginning as the
 * path's index; NO_PATH: the last one has ended (crates/probes/src/clock.rs).
 */
enum { NO_PATH = 0xfff };

static inline uint64_t path_of(uint64_t address)
{
	return address & 0xfff;
}

#endif
