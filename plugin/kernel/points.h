/*
 * Windows between two points of the kernel: where a window may begin and end, as the host found it
 * in the kernel's symbol table (crates/trace/src/kernel/points.rs).
 *
 * A text, a line for each fact, in any order; all numbers hexadecimal:
 *
 *   i FIRST END                code at which interrupts enter the kernel, at the first byte of
 *                              each of its entries
 *   d FIRST END                code in which the CPU idles, beside `hlt`
 *   s FIRST END                the code that goes from task to task: its instruction that loads the
 *                              stack pointer names the next one by where it loads it from
 *   w WINDOW ORIGINS HOW NTH   a window: why the kernel must be executing when it begins, a sum of
 *                              enum origin, or 0 for any reason; 1 if it ends only in the task in
 *                              which it began, plus 2 if a begin while it is open begins it
 *                              anew, plus 4 if what is recorded lasts from its first rdtsc to its
 *                              last; which of the begins after a begin marker counts,
 *                              or 0 for all
 *   b WINDOW ADDRESS FIRST END it begins when the instruction at ADDRESS is next, ...
 *   e WINDOW ADDRESS FIRST END ... and ends so, if control comes there from an instruction in the
 *                              code from FIRST to before END; or from anywhere, if END is 0
 *   B WINDOW ADDRESS 0 0       it begins when a call of the function at ADDRESS has returned, ...
 *   E WINDOW ADDRESS 0 0       ... and ends so
 *   U WINDOW 0 0 0             it ends when the next instruction is a program's
 *   p PATH WINDOW              the path with this index is measured in this window
 */
#ifndef PLUGIN_POINTS_H
#define PLUGIN_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "common/linkage.h"

/* Why the kernel executes: what the CPU did before the last entry. */
enum origin {
	FROM_PROGRAM = 1,	/* an interrupt or an exception of a program */
	FROM_CALL = 2,		/* a system call */
	FROM_KERNEL = 4,	/* an interrupt of the kernel */
	FROM_IDLE = 8,		/* an interrupt of the idle task */
};

struct range {
	uint64_t first, end;
};

struct point {
	uint64_t address;
	struct range from;	/* where control must come from; all of it if `end` is 0 */
	uint32_t window;
	bool begins;		/* else it ends the window */
	bool at_return;		/* of the function at `address`, not at its entry */
};

enum { MOST_POINTS = 256, MOST_RANGES = 512, MOST_WINDOWS = 32, MOST_POINT_PATHS = 1024 };

extern HIDDEN struct point points[MOST_POINTS];	/* ascending by address */
extern HIDDEN size_t point_count;
struct window_asked {
	uint32_t origins, nth;
	bool same_task, latest, stamped, ends_in_program;
};
extern HIDDEN struct window_asked windows_asked[MOST_WINDOWS];
extern HIDDEN bool returns_wanted;

/* Reads the table; false if it is none. */
bool read_points(int fd);

size_t first_point(uint64_t address);

/* Whether a block has to begin at this address. */
bool is_point(uint64_t address);

bool is_entry(uint64_t address);

bool is_idle(uint64_t address);

/* Whether it is the instruction that names the next task. */
bool switches_task(const struct instruction *instruction, uint64_t address);

/* Which of these windows a begin begins anew while they are open. */
uint32_t begin_anew(uint32_t windows);

/* The window of this path, if it has one. */
uint32_t window_of_path(uint64_t path);

/* All windows of the table. */
uint32_t all_windows(void);

#endif
