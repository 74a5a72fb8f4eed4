/*
 * The counter: a QEMU plugin that counts, for every window of every path, which blocks of code
 * were executed how often and what memory they touched, in the format of
 * docs/reference/count-format.md. What an instruction is, and so what kind of event, the host
 * decides (crates/trace). pieces.h has the blocks, leaving.h how control leaves one, window.h what
 * a window counts and how it is written; here is when a window begins and ends.
 *
 * Until the first path announces itself by a marker, only markers are instrumented, so that the way
 * there costs next to nothing. Then the plugin resets itself once and instruments everything.
 *
 * A window lasts from the first rdtsc after its begin marker up to the last rdtsc before its end
 * marker, that is, from stamp to stamp. Loading the plugin changes no count: callbacks are not
 * guest instructions.
 *
 * A path that the table of points names is measured between two points of the kernel instead
 * (points.h): a window begins at the one, if that comes between the path's begin and end marker,
 * and lasts up to the other, however late that comes. At the second end marker in a row, or when
 * the path has ended, a window that is open is told as one that had no end.
 *
 * Arguments: ask=on    print the range of API versions that QEMU takes, and end QEMU
 *            fd=N      the inherited descriptor to write to
 *            points=N  the inherited descriptor with the table of points; none without it
 */
#include "common.h"
#include "idle.h"
#include "leaving.h"
#include "pieces.h"
#include "points.h"
#include "steps.h"
#include "window.h"
#include "x86.h"

/* ---- State; under the exact clock, all vCPUs take turns on one thread ----------------------- */

static enum { OUTSIDE, BEGUN, INSIDE } state;	/* BEGUN: its first stamp has not come yet */

/* Between points. */
static bool begins_count;	/* between a begin marker and its end marker */
static bool observed;		/* ends are seen */
static uint64_t overlapping;	/* begins while a window was open */
static uint64_t loose_ends;	/* ends while none was */
static uint64_t told_windows, omitted;
/* Windows of an execution, and of them those that began from one begin marker to the next; others
 * are only numbered. The host looks at the first 64 after the third marker (crates/pathmeter,
 * windows.rs). */
enum { MOST_TOLD = 512, MOST_MARKED = 64 };
static uint64_t marked_windows;		/* told since the marker told last */
static uint64_t markers, told_markers;	/* begin markers of this execution */
static uint64_t marker_of_window;	/* the number of the last one before it began */
static bool misplaced[MOST_POINTS];	/* points in the middle of an instruction */

static bool instrumented;	/* all code, not only markers */
static bool deaf;		/* some code is not instrumented: no window is told any more */

static uint64_t steps(void)
{
	return steps_of(0);
}

/* ---- Windows --------------------------------------------------------------------------------- */

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

/* Those of the chosen window; whatever path they were seen in. */
static uint64_t misplaced_points(void)
{
	uint64_t count = 0;

	for (size_t i = 0; i < point_count; i++)
		count += misplaced[i] && is_chosen(&points[i]);
	return count;
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

static void on_begin(unsigned int vcpu, void *data)
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

static void on_end(unsigned int vcpu, void *data)
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
	/* The host may end the guest at any time after the probe's report. */
	flush();
}

/* A path's execution begins, or the one before has ended: which, the next instruction tells. */
static void on_path(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	end_observation();
	choose_windows(0);
	state = OUTSIDE;
	markers = told_markers = 0;
	told_windows = marked_windows = 0;
	if (!instrumented) {
		find_counters();
		api->reset();
	}
	instrumented = true;
}

/* The instruction after a path marker loads from so many bytes into a page. */
static void on_path_number(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
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

/* ---- What is executed ------------------------------------------------------------------------ */

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

static void on_block(unsigned int vcpu, void *data)
{
	struct block *next = data;
	uint64_t now = steps();

	(void)vcpu;
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
	if (point_count && before_this.halt)
		woke(now);
	if (point_count) {
		bool called = before_this.call;
		struct passes passes = pass(&next->spot);

		if (passes.begins | passes.ends)
			at_point(passes, called);
	}
	before = now;
	moved = halfway = false;
	current = next;
}

static void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	points_access(address);
	if (state != INSIDE)
		return;
	accessed_at = steps();
	count_access(address, 1u << qemu_plugin_mem_size_shift(info),
		     qemu_plugin_mem_is_store(info), (uintptr_t)data);
}

/* ---- Translation ----------------------------------------------------------------------------- */

static exec_cb_t *const on_marker[MARKERS] = {
	[BEGIN_MARKER] = on_begin, [END_MARKER] = on_end, [PATH_MARKER] = on_path,
};

static void translate_markers(struct qemu_plugin_tb *tb)
{
	uint8_t bytes[MAX_LENGTH];
	bool after_path = false;

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (after_path)
			qemu_plugin_register_vcpu_mem_cb(insn, on_path_number, CB_NO_REGS, MEM_RW,
							 NULL);
		after_path = marker(bytes, bytes_of(insn, bytes)) == PATH_MARKER;
		if (after_path)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_path, CB_NO_REGS, NULL);
	}
}

/* Notes the points that are after the first byte of the instruction at `address`. */
static void find_misplaced(uint64_t address, uint64_t length)
{
	for (size_t i = first_point(address + 1); i < point_count; i++) {
		if (points[i].address >= address + length)
			return;
		misplaced[i] = true;
	}
}

static void translate_block(struct qemu_plugin_tb *tb, size_t first, const struct block *block)
{
	bool after_path = false;
	uint64_t uncounted = 0, address = block->start;

	for (uint32_t i = 0; i < block->size; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, first + i);
		const struct instruction *instruction = &block->instructions[i];
		enum marker mark = marker(instruction->bytes, instruction->length);

		uncounted++;
		find_misplaced(address, instruction->length);
		address += instruction->length;
		if (is_nop(instruction) && i + 1 < block->size && !may_be_taken_back(address))
			continue;
		advance(insn, 0, uncounted);
		uncounted = 0;
		if (on_marker[mark])
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker[mark], CB_NO_REGS,
							       NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, after_path ? on_path_number : on_access,
						 CB_NO_REGS, MEM_RW,
						 (void *)string_accesses(instruction));
		after_path = mark == PATH_MARKER;
		if (loads_stack(instruction->bytes, address - instruction->length))
			qemu_plugin_register_vcpu_mem_cb(insn, on_task_switch, CB_NO_REGS, MEM_RW,
							 NULL);
	}
}

static void translate_all(struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb), first = 0, size;

	for (; first < count; first += size) {
		struct block *block;

		size = up_to_point(tb, first) - first;
		block = block_of(tb, first, size);
		if (!block) {
			deaf = true;
			return;
		}
		if (first == 0)
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, CB_NO_REGS, block);
		else
			qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, first),
							       on_block, CB_NO_REGS, block);
		translate_block(tb, first, block);
	}
}

/* ---- Start ----------------------------------------------------------------------------------- */

static void after_reset(void)
{
	translate = translate_all;
	api->start();
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	static const uint8_t HEADER[8] = "PMCT\4";
	uint64_t fd = 0, table = 0;

	if (asked(info, argc, argv))
		return -1;
	for (int i = 0; i < argc; i++)
		if (!number(argv[i], "fd", &fd) && !number(argv[i], "points", &table))
			fd = 0;
	if (fd < 3) {
		fprintf(stderr, "counter: needs fd=N, and takes points=N\n");
		return -1;
	}
	if (table && !read_points((int)table)) {
		fprintf(stderr, "counter: the table of points can't be read\n");
		return -1;
	}
	if (!install(id, info))
		return -1;
	make_counters(info);
	out.fd = (int)fd;
	put_bytes(HEADER, sizeof(HEADER));
	flush();
	translate = translate_markers;
	api->start();
	return 0;
}
