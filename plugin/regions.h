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

#include "account.h"
#include "common.h"
#include "memory.h"

enum { LONGEST_NAME = 127, MOST_NAMES = 1 << 12, MOST_REGIONS = 16 };

struct region {
	uint32_t name;
	struct counts begin;
	uint64_t held, failed;	/* expectations */
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

enum record_tag { NAME = 3, REGION, FAILED, MISUSE, WINDOW = 8, PASSED };
#define NOTHING UINT32_MAX

static char *names[MOST_NAMES];
static uint32_t name_count;

static void put_record(enum record_tag tag, const uint64_t *numbers, size_t count)
{
	reserve(1 + count * 10);
	put(tag);
	for (size_t i = 0; i < count; i++)
		put_unsigned(numbers[i]);
}

/* How many classes there were instructions of; of each its number and theirs. */
static void put_events(const uint64_t *events)
{
	uint64_t count = 0;

	for (size_t i = 0; i < classes.count; i++)
		count += events[i] != 0;
	reserve(10 + count * 11);
	put_unsigned(count);
	for (size_t i = 0; i < classes.count; i++) {
		if (!events[i])
			continue;
		put_unsigned(i);
		put_unsigned(events[i]);
	}
}

/* The name's number; a new name is written to the stream. NOTHING if there are too many. */
static uint32_t number_of(const char *name)
{
	size_t length = strlen(name);

	for (uint32_t i = 0; i < name_count; i++)
		if (!strcmp(names[i], name))
			return i;
	if (name_count == MOST_NAMES)
		return NOTHING;
	names[name_count] = strdup(name);
	if (!names[name_count])
		return NOTHING;
	reserve(1 + 10 + length);
	put(NAME);
	put_unsigned(length);
	put_bytes(name, length);
	return name_count++;
}

static void misuse(enum misuse what, uint32_t name, uint32_t other)
{
	const uint64_t numbers[] = { what, name, other };

	put_record(MISUSE, numbers, 3);
}

static struct region_stack *stack_of(struct task *task)
{
	if (!task->regions)
		task->regions = calloc(1, sizeof(*task->regions));
	return task->regions;
}

static void put_region(const struct region *region, const struct counts *counts)
{
	const uint64_t numbers[] = {
		region->name, counts->steps, counts->surplus, counts->user, counts->string_bytes,
		region->held, region->failed,
	};

	put_record(REGION, numbers, sizeof(numbers) / sizeof(*numbers));
	put_events(counts->events);
}

/* Tells the region that ended last. */
static void tell_ended(struct region_stack *stack)
{
	if (stack->has_ended)
		put_region(&stack->ended, &stack->counts);
	stack->has_ended = false;
}

static void begin_region(struct region_stack *stack, uint32_t name, const struct counts *now)
{
	tell_ended(stack);
	if (stack->depth == MOST_REGIONS) {
		misuse(TOO_MANY_OPEN, name, NOTHING);
		return;
	}
	stack->regions[stack->depth++] = (struct region){ .name = name, .begin = *now };
	note_region(name, true);
}

static void end_region(struct region_stack *stack, uint32_t name, const struct counts *now)
{
	const struct region *region;

	tell_ended(stack);

	if (!stack->depth) {
		misuse(END_WITHOUT_BEGIN, name, NOTHING);
		return;
	}
	region = &stack->regions[stack->depth - 1];
	if (region->name != name) {
		misuse(OTHER_END, name, region->name);
		return;
	}
	stack->ended = *region;
	stack->counts = *now;
	take_totals(&stack->counts, &region->begin);
	stack->has_ended = true;
	stack->depth--;
}

static void judge(struct region_stack *stack, uint32_t text, bool held)
{
	struct region *region = stack->depth ? &stack->regions[stack->depth - 1] :
				stack->has_ended ? &stack->ended : NULL;

	if (!region) {
		misuse(OUTSIDE_REGION, text, NOTHING);
		return;
	}
	region->held += held;
	region->failed += !held;
	if (!held) {
		const uint64_t numbers[] = { region->name, text };

		put_record(FAILED, numbers, 2);
	}
}

static void act(struct region_stack *stack, const struct counts *now)
{
	uint32_t name = number_of(stack->name);

	if (name == NOTHING || !stack->length) {
		misuse(NO_NAME, NOTHING, NOTHING);
		return;
	}
	switch (stack->mark) {
	case REGION_BEGIN_MARKER:
		begin_region(stack, name, now);
		break;
	case REGION_END_MARKER:
		end_region(stack, name, &stack->at_mark);
		break;
	default:
		judge(stack, name, stack->mark == EXPECTED_MARKER);
	}
}

/* Appends what stands at `from`, up to its end or that of the page's `room` bytes. */
static void append_name(struct region_stack *stack, const char *from, size_t room)
{
	while (room-- && *from && stack->length < LONGEST_NAME)
		stack->name[stack->length++] = *from++;
	stack->name[stack->length] = 0;
}

/* One of the loads after a marker. */
static void load_name(struct region_stack *stack, uint32_t info, uint64_t address,
		      const struct counts *now)
{
	const char *place = (const char *)accessed(info, address, 1);
	uint64_t in_page = address & 4095;

	stack->loads++;
	if (place && stack->loads == 1)
		append_name(stack, place, 4096 - in_page);
	/* The byte that ends it lies in the next page, at less than the name's length. */
	if (place && stack->loads == 2 && in_page < LONGEST_NAME && stack->goes_on)
		append_name(stack, place - in_page, in_page);
	stack->goes_on = stack->loads == 1 && in_page + stack->length == 4096;
	if (stack->loads < 2)
		return;
	act(stack, now);
	stack->mark = NO_MARKER;
}

/* A task is no more, or the run is over: what it has not ended is told. */
static void leave_regions(struct task *task)
{
	struct region_stack *stack = task->regions;

	if (!stack)
		return;
	tell_ended(stack);
	while (stack->depth) {
		uint32_t name = stack->regions[--stack->depth].name;

		note_region(name, false);
		misuse(NOT_ENDED, name, NOTHING);
	}
}

#endif
