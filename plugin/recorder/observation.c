/*
 * The begins and ends of windows, and what is executed in them.
 */
#include "recorder/observation.h"

#include "common/marker.h"
#include "common/qemu.h"
#include "common/stream.h"
#include "kernel/passage.h"
#include "kernel/points.h"
#include "recorder/code.h"
#include "recorder/job.h"

static uint64_t begun[NO_PATH + 1];	/* executions of each path so far */
static uint64_t begin_markers;	/* in this execution, of a path with points */
static bool begins_count;	/* between a begin marker and its end marker, for points */
static bool passed_over;	/* a window is open that began after one of the first markers */

static inline void put_instruction(struct code *code)
{
	int64_t number = number_of(code);

	if (run_count && number == run_first + (int64_t)run_count) {
		run_count++;
	} else {
		put_run();
		run_first = number;
		run_count = 1;
	}
	if (++executed > limits.window_limit)
		stop(WINDOW_LIMIT);
	else if (out.written > limits.bytes_limit)
		stop(BYTE_LIMIT);
}

void on_stretch(unsigned int vcpu, void *data)
{
	const struct stretch *stretch = data;

	(void)vcpu;
	/* A limit ends the recording within a stretch, too. */
	for (size_t i = 0; inside && i < stretch->count; i++)
		put_instruction(stretch->codes[i]);
}

void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)data;
	points_access(address);
	if (!inside)
		return;
	put_run();
	record(qemu_plugin_mem_is_store(info) ? STORE : LOAD);
	put(qemu_plugin_mem_size_shift(info));
	put_signed((int64_t)(address - last_address));
	last_address = address;
}

/* Windows of this path to pass over: of one that has its windows between markers. */
static uint64_t skipped(void)
{
	return chosen ? 0 : limits.skip;
}

static void begin(void)
{
	if (!armed || windows_seen++ < skipped())
		return;
	inside = true;
	executed = run_count = last_address = 0;
	last_number = -1;
	if (!chosen)
		record(BEGIN);
	else
		record(windows_asked[__builtin_ctz(chosen)].stamped ? BEGIN_STAMPED : BEGIN_WHOLE);
	put_unsigned(windows_seen - 1 - skipped());
}

static void end(void)
{
	if (!inside)
		return;
	inside = false;
	windows_whole++;
	put_run();
	record(END);
	put_unsigned(windows_seen - 1 - skipped());
	if (windows_seen >= skipped() + jobs[current].take)
		stop(ALL_RECORDED);
}

/* The window that is open is none. */
static void drop(void)
{
	inside = false;
	windows_seen--;
	put_run();
	record(DROP);
}

void on_begin(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (!chosen) {
		begin();
	} else {
		begin_markers++;
		begins_count = true;
		points_counted();
	}
}

void on_end(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (!chosen) {
		end();
		return;
	}
	/* The second in a row ends the observation: what is open has no end. */
	if (!begins_count) {
		passed_over = false;
		if (inside)
			stop(ALL_RECORDED);
	}
	begins_count = false;
}

void on_spot(unsigned int vcpu, void *data)
{
	struct passes passes;

	(void)vcpu;
	if (!chosen) {
		pass_unseen(data);
		return;
	}
	passes = pass(data);
	if (!armed)
		return;
	if (passes.ends) {
		end();
		passed_over = false;
	}
	/* Its stream may have ended with this window. */
	if (!armed || !passes.begins || !begins_count)
		return;
	if ((inside || passed_over) && !begin_anew(passes.begins))
		return;
	if (inside)
		drop();
	points_opened(passes.begins);
	passed_over = begin_markers <= jobs[current].warm;
	if (!passed_over)
		begin();
}

void end_path(void)
{
	if (armed)		/* its path ended before all windows came */
		stop(ALL_RECORDED);
	choose_windows(0);
	begin_markers = 0;
	begins_count = passed_over = false;
}

bool begin_path(uint64_t path)
{
	uint64_t before = begun[path]++;

	if (current == job_count || path != jobs[current].path || before != jobs[current].pass)
		return false;
	arm();
	choose_windows(window_of_path(path));
	return true;
}
