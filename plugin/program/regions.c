/*
 * Regions by the marks of a program, and their records in the stream.
 */
#include "program/regions.h"

#include <stdlib.h>
#include <string.h>

#include "common/marker.h"
#include "common/stream.h"
#include "kernel/ram.h"
#include "program/cells.h"
#include "program/classes.h"
#include "program/task.h"
#include "program/windows.h"

static char *names[MOST_NAMES];
static uint32_t name_count;

void put_record(enum record_tag tag, const uint64_t *numbers, size_t count)
{
	reserve(1 + count * 10);
	put(tag);
	for (size_t i = 0; i < count; i++)
		put_unsigned(numbers[i]);
}

void put_events(const uint64_t *events)
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

uint32_t number_of(const char *name)
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

void misuse(enum misuse what, uint32_t name, uint32_t other)
{
	const uint64_t numbers[] = { what, name, other };

	put_record(MISUSE, numbers, 3);
}

struct region_stack *stack_of(struct task *task)
{
	if (!task->regions)
		task->regions = calloc(1, sizeof(*task->regions));
	return task->regions;
}

void put_region(const struct region *region, const struct counts *counts)
{
	const uint64_t numbers[] = {
		region->name, counts->steps, counts->surplus, counts->user, counts->string_bytes,
		counts->lines, counts->pages, counts->visits,
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

void begin_region(struct region_stack *stack, uint32_t name, const struct counts *now)
{
	tell_ended(stack);
	if (stack->depth == MOST_REGIONS) {
		misuse(TOO_MANY_OPEN, name, NOTHING);
		return;
	}
	stack->regions[stack->depth++] = (struct region){ .name = name, .begin = *now };
	note_region(name, true);
}

void count_turn_in_regions(struct region_stack *stack, enum turn turn, uint64_t more)
{
	unsigned int depth = stack->depth;

	/* What comes after the mark that ends a region is not in it. */
	if (depth && stack->mark == REGION_END_MARKER)
		depth--;
	for (unsigned int i = 0; i < depth; i++)
		stack->regions[i].turns[turn] += more;
}

void end_region(struct region_stack *stack, uint32_t name, const struct counts *now)
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
	for (size_t i = 0; i < TURNS; i++)
		stack->counts.events[classes.turns[i] - 1] = region->turns[i];
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

void load_name(struct region_stack *stack, uint32_t info, uint64_t address,
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

void leave_regions(struct task *task)
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
