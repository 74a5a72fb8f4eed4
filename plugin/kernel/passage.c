/*
 * Whether control passes a point: from where it comes, and whose return address is taken.
 */
#include "kernel/passage.h"

#include <stddef.h>
#include <string.h>

#include "arch/arch.h"
#include "common/linkage.h"
#include "kernel/points.h"
#include "kernel/spot.h"

uint32_t chosen;
static const struct spot nowhere;
const struct spot *before_this = &nowhere;
static enum origin origin;		/* why the kernel executes, when it does */
uint64_t last_access;
static uint64_t task;		/* the task that is executed, as switches_task() sees it */
uint64_t halts;
struct watched watched[MOST_WINDOWS];

/* Calls that have not returned, of functions whose return is a point: where in memory the address
 * to return to is. One that never returns is forgotten when others have taken all places. */
enum { MOST_CALLS = 256 };
static struct { uint64_t slot; const struct point *point; } calls[MOST_CALLS];
static size_t next_call, pending_calls;
static bool after_return;	/* the block before the last one returned */
static uint64_t return_slot;	/* of the function that is entered now, if one is; 0: not known */

void choose_windows(uint32_t windows)
{
	chosen = windows;
	memset(watched, 0, sizeof(watched));
	memset(calls, 0, sizeof(calls));
	pending_calls = 0;
}

void on_task_switch(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)info;
	(void)data;
	task = address;
}

void points_counted(void)
{
	for (size_t window = 0; window < MOST_WINDOWS; window++)
		watched[window].occurrences = 0;
}

void points_opened(uint32_t windows)
{
	for (size_t window = 0; windows >> window; window++)
		if (windows >> window & 1)
			watched[window].task_at_begin = task;
}

bool is_chosen(const struct point *point)
{
	return chosen >> point->window & 1;
}

static void find_origin(const struct spot *next)
{
	if (!is_kernel(next->first))
		return;
	if (!is_kernel(before_this->last))
		/* A block that ends with a call may have faulted before. */
		origin = before_this->gate && !next->interrupt_entry ? FROM_CALL : FROM_PROGRAM;
	else if (next->interrupt_entry)
		origin = before_this->idle ? FROM_IDLE : FROM_KERNEL;
}

static void passed(const struct point *point, struct passes *passes)
{
	uint32_t bit = 1u << point->window, nth = windows_asked[point->window].nth;
	uint32_t origins = windows_asked[point->window].origins;
	struct watched *window = &watched[point->window];
	bool other_task = windows_asked[point->window].same_task && task != window->task_at_begin;

	if (point->begins ? origins && !(origins & origin) : other_task)
		window->elsewhere++;
	else if (!point->begins)
		passes->ends |= bit;
	else if (!nth || ++window->occurrences == nth)
		passes->begins |= bit;
}

/* The calls whose return address is there are no more; they returned if `passes` is given. */
static void end_calls(uint64_t slot, struct passes *passes)
{
	for (size_t i = 0; pending_calls && i < MOST_CALLS; i++) {
		const struct point *point = calls[i].point;

		if (!point || calls[i].slot != slot)
			continue;
		calls[i].point = NULL;
		pending_calls--;
		if (passes && is_chosen(point))
			passed(point, passes);
	}
}

/*
 * If `next` is a function's entry, where is its return address? A call has just stored it. If
 * control came by a `ret`, as from a retpoline, it is the next one on the stack. If it was jumped
 * to, as in a tail call, it is that of the last call, unless something has returned since: how far
 * the stack was taken back then is not known.
 */
static void find_return_slot(const struct spot *next)
{
	if (next->interrupt_entry || before_this->interrupt_return) {
		return_slot = 0;
	} else if (before_this->call) {
		return_slot = last_access;
		/* A call that is still expected to return there never did. */
		end_calls(return_slot, NULL);
	} else if (before_this->ret) {
		return_slot = last_access + 8;
	} else if (after_return) {
		return_slot = 0;
	}
	after_return = before_this->ret;
}

/* A function is entered whose return is a point. */
static void expect_return(const struct point *point)
{
	if (!return_slot) {
		watched[point->window].hidden++;
		return;
	}
	pending_calls += !calls[next_call].point;
	calls[next_call].slot = return_slot;
	calls[next_call].point = point;
	next_call = (next_call + 1) % MOST_CALLS;
}

static bool comes_from(const struct point *point)
{
	const struct range *from = &point->from;

	if (!from->end || (before_this->last >= from->first && before_this->last < from->end))
		return true;
	watched[point->window].hidden += before_this->interrupt_return;
	return false;
}

/* The chosen windows that end when control comes from the kernel to a program. */
static uint32_t ends_in_program(void)
{
	uint32_t windows = 0;

	for (uint32_t window = 0; window < MOST_WINDOWS; window++)
		windows |= (uint32_t)windows_asked[window].ends_in_program << window;
	return windows & chosen;
}

HOT struct passes pass(const struct spot *next)
{
	struct passes passes = { 0, 0 };
	/* Control comes to a repeated string instruction once, not with each iteration. */
	size_t count = next->first == before_this->last ? 0 : next->points;

	find_origin(next);
	halts += before_this->halt;
	if (chosen) {
		if (before_this->ret && returns_wanted)
			end_calls(last_access, &passes);
		if (returns_wanted)
			find_return_slot(next);
		if (!is_kernel(next->first) && is_kernel(before_this->last))
			passes.ends |= ends_in_program();
		for (size_t i = next->point; i < next->point + count; i++) {
			const struct point *point = &points[i];

			if (!is_chosen(point) || !comes_from(point))
				continue;
			if (point->at_return)
				expect_return(point);
			else
				passed(point, &passes);
		}
	}
	before_this = next;
	/* What is executed from here on may fault before it accesses anything. */
	last_access = 0;
	return passes;
}
