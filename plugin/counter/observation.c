/*
 * The begins and ends of windows, and what is executed in them.
 */
#include "counter/observation.h"

#include <stddef.h>
#include <string.h>

#include "common/idle.h"
#include "common/marker.h"
#include "common/qemu.h"
#include "common/steps.h"
#include "common/stream.h"
#include "counter/exits.h"
#include "counter/pieces.h"
#include "counter/window.h"
#include "kernel/passage.h"
#include "kernel/points.h"

static enum { OUTSIDE, BEGUN, INSIDE } state;	/* BEGUN: its first stamp has not come yet */

/* Between points. */
static bool begins_count;	/* between a begin marker and its end marker */
static bool observed;		/* ends are seen */
static uint64_t overlapping;	/* begins while a window was open */
static uint64_t loose_ends;	/* ends while none was */
static uint64_t told_windows, omitted;
/* Windows of an execution, and of them those that began from one begin marker to the next; others
 * are only numbered. The host looks at the first 64 after the third marker (crates/measure,
 * path/point_windows.rs). */
enum { MOST_TOLD = 512, MOST_MARKED = 64 };
static uint64_t marked_windows;		/* told since the marker told last */
static uint64_t markers, told_markers;	/* begin markers of this execution */
static uint64_t marker_of_window;	/* the number of the last one before it began */

bool deaf;

static bool misplaced[MOST_POINTS];	/* points in the middle of an instruction */

void find_misplaced(uint64_t address, uint64_t length)
{
	for (size_t i = first_point(address + 1); i < point_count; i++) {
		if (points[i].address >= address + length)
			return;
		misplaced[i] = true;
	}
}

/* Those of the chosen window; whatever path they were seen in. */
static uint64_t misplaced_points(void)
{
	uint64_t count = 0;

	for (size_t i = 0; i < point_count; i++)
		count += misplaced[i] && is_chosen(&points[i]);
	return count;
}

static uint64_t steps(void)
{
	return steps_of(0);
}

static void begin_window(void)
{
	clear_window();
	state = INSIDE;
}

/* The begin markers before the window between points that is told next; false if there were
 * enough windows. */
static bool tell_markers(void)
{
	for (; told_markers < marker_of_window; told_markers++) {
		reserve(1);
		put(BEGINS_COUNT);
		marked_windows = 0;
	}
	if (told_windows < MOST_TOLD && marked_windows < MOST_MARKED)
		return true;
	omitted++;
	return false;
}

/* Tells the window up to its last stamp; false if it is not told. */
static bool end_window(void)
{
	broken |= deaf || state != INSIDE;
	state = OUTSIDE;
	if (chosen && !tell_markers())
		return false;
	if (!broken)
		tell_window();
	told_windows++;
	marked_windows++;
	if (broken) {
		reserve(1);
		put(BROKEN);
	} else {
		write_window();
	}
	return true;
}

static void tell_loose(const uint64_t numbers[6])
{
	reserve(1 + 6 * LONGEST_NUMBER);
	put(LOOSE);
	for (size_t i = 0; i < 6; i++)
		put_unsigned(numbers[i]);
}

/* From here on nothing is seen of the chosen window. */
static void end_observation(void)
{
	const struct watched *also = &watched[chosen ? __builtin_ctz(chosen) : 0];

	if (!observed)
		return;
	if (state == INSIDE) {
		/* The current block is the one with the marker, of which nothing counts. */
		stamp();
		if (end_window()) {
			reserve(1);
			put(NO_END);
		}
	}
	tell_loose((const uint64_t[]){ overlapping, loose_ends, omitted, also->elsewhere,
				       also->hidden, misplaced_points() });
	observed = begins_count = false;
	overlapping = loose_ends = omitted = 0;
	memset(watched, 0, sizeof(watched));
	flush();
}

void on_begin(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (!chosen) {
		state = BEGUN;
		return;
	}
	begins_count = observed = true;
	markers++;
	points_counted();
}

void on_end(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (chosen) {
		if (begins_count)
			begins_count = false;
		else
			end_observation();
		return;
	}
	if (state == OUTSIDE)
		return;
	end_window();
}

void on_path_number(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t path = path_of(address);

	(void)vcpu;
	(void)info;
	(void)data;
	if (path == NO_PATH)
		return;
	reserve(1 + LONGEST_NUMBER);
	put(PATH);
	put_unsigned(path);
	flush();
	choose_windows(window_of_path(path));
}

void end_path(void)
{
	end_observation();
	/* The host may end the guest at any time after the probe's report, which comes next. */
	flush();
	choose_windows(0);
	state = OUTSIDE;
	markers = told_markers = 0;
	told_windows = marked_windows = 0;
}

/* Control comes to a block at which the chosen window begins or ends. */
static void at_point(struct passes passes, bool called)
{
	if (passes.ends) {
		if (state == INSIDE) {
			stamp();
			end_window();
		} else {
			loose_ends += observed;
		}
	}
	if (!passes.begins || !begins_count)
		return;
	if (state == INSIDE && !begin_anew(passes.begins)) {
		overlapping++;
	} else {
		begin_window();
		points_opened(passes.begins);
		marker_of_window = markers;
		stamp();
		entered = called;
	}
}

/* Control comes to `next` after so many steps. Apart: on_block() has few registers to save. */
static __attribute__((noinline)) void come_to(struct block *next, uint64_t now)
{
	if (current)
		learn_handler(current, now - before, next->start);
	if (state == INSIDE)
		leave(now - before, next->start);
	if (!chosen && state != OUTSIDE && current->stamp &&
	    now - before == current->size) {
		if (state == BEGUN)
			begin_window();
		stamp();
	}
	if (point_count && before_this->halt)
		woke(now);
	if (point_count) {
		bool called = before_this->call;
		struct passes passes = pass(&next->spot);

		if (passes.begins | passes.ends)
			at_point(passes, called);
	}
	before = now;
	moved = halfway = false;
	current = next;
}

/* Whether it teaches nothing outside of windows that control goes from one block to another: the
 * CPU does not wait, and no program comes to the kernel, perhaps by an exception. */
static inline bool passes_unseen(uintptr_t from, uintptr_t to)
{
	return from && !(from & HALTS) && !(~from & to & IN_KERNEL);
}

/*
 * Where nothing is looked for, or a string instruction goes on, next to nothing is to be done. Then
 * nothing is read of the block, which the host's cache may have lost: its handle says enough.
 */
void on_block(unsigned int vcpu, void *data)
{
	static uintptr_t current_handle;
	uintptr_t handle = (uintptr_t)data, ended = current_handle;
	uint64_t now = steps();

	(void)vcpu;
	current_handle = handle;
	if (state == OUTSIDE && !chosen && passes_unseen(ended, handle)) {
		current = block_by(handle);
		pass_unseen(&current->spot);
		before = now;
	} else if (handle == ended && handle & ITERATES && now - before == 1) {
		if (state == INSIDE)
			iterate();
		before = now;
		moved = halfway = false;
	} else {
		come_to(block_by(handle), now);
	}
}

void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	points_access(address);
	if (state != INSIDE)
		return;
	accessed_at = steps();
	count_access(address, 1u << qemu_plugin_mem_size_shift(info),
		     qemu_plugin_mem_is_store(info), (uintptr_t)data);
}
