/*
 * Regions: parts of its own that a program marks (include/pathmeter.h). Each task has a stack of
 * those that it is in. A region's counts are of all that was executed between its marks, whoever
 * executed it, as those of a path are.
 *
 * A mark is a marker and two loads: of the first byte of a name, and of the byte that ends it. The
 * first shows where the name is in memory; the second, if the name goes on in another page, where
 * that is.
 */
#ifndef PLUGIN_REGIONS_H
#define PLUGIN_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/marker.h"
#include "program/task.h"

enum { LONGEST_NAME = 127, MOST_NAMES = 1 << 12, MOST_REGIONS = 16 };

struct region {
	uint32_t name;
	struct counts begin;
	uint64_t held, failed;	/* expectations */
	uint64_t turns[TURNS];	/* of its task, and of those that this woke, since it began */
	uint64_t returns;	/* of a function: where its return address is; else 0 */
};

struct region_stack {
	struct region regions[MOST_REGIONS];
	unsigned int depth;
	bool has_ended;		/* one has, which may be expected something of yet: */
	struct region ended;
	struct counts counts;	/* of that one */
	uint64_t call;		/* where the last call stored its return address */
	enum marker mark;	/* whose name is being read; NO_MARKER if none is */
	struct counts at_mark;
	unsigned int loads;	/* of the name, so far */
	bool goes_on;		/* in the next page */
	size_t length;
	char name[LONGEST_NAME + 1];
};

/* Wrong uses; the host has the words. */
enum misuse { END_WITHOUT_BEGIN = 1, OTHER_END, NOT_ENDED, TOO_MANY_OPEN, NO_NAME, OUTSIDE_REGION };

enum record_tag {
	NAME = 3, REGION, FAILED, MISUSE, WINDOW = 8, PASSED, PROCESSES, PROCESS, PART,
	SLEEPS, SLEEP, THREADS, THREAD, THREAD_PART, CODE_PAGE, TREE, NODE, TREE_CELL,
	EVENT_CELL,
};
#define NOTHING UINT32_MAX

void put_record(enum record_tag tag, const uint64_t *numbers, size_t count);

/* How many classes there were instructions of; of each its number and theirs. */
void put_events(const uint64_t *events);

/* The name's number; a new name is written to the stream. NOTHING if there are too many. */
uint32_t number_of(const char *name);

void misuse(enum misuse what, uint32_t name, uint32_t other);

struct region_stack *stack_of(struct task *task);

void put_region(const struct region *region, const struct counts *counts);

void begin_region(struct region_stack *stack, uint32_t name, const struct counts *now);

/* The task sleeps, is preempted or wakes another in the regions that it is in; or it does so less
 * often, by `more` modulo 2^64. */
void count_turn_in_regions(struct region_stack *stack, enum turn turn, uint64_t more);

void end_region(struct region_stack *stack, uint32_t name, const struct counts *now);

/* One of the loads after a marker. */
void load_name(struct region_stack *stack, uint32_t info, uint64_t address,
	       const struct counts *now);

/* A task is no more, or the run is over: what it has not ended is told. */
void leave_regions(struct task *task);

#endif
