/*
 * Windows between two points of the kernel: where a window may begin and end, as the host found it
 * in the kernel's symbol table (crates/trace/src/points.rs), and whether one does so now.
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
 *
 * Whoever includes this file calls pass() before each block of code, with its spot: a point is
 * always the first instruction of one.
 */
#ifndef PLUGIN_POINTS_H
#define PLUGIN_POINTS_H

#include "common.h"
#include "x86.h"

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
enum { NO_WINDOW = MOST_WINDOWS };

static struct point points[MOST_POINTS];	/* ascending by address */
static size_t point_count;
static struct range entry_code[MOST_RANGES], idle_code[MOST_RANGES];
static size_t entry_count, idle_count;
static struct range switch_code;
static struct {
	uint32_t origins, nth;
	bool same_task, latest, stamped, ends_in_program;
} windows_asked[MOST_WINDOWS];
static uint8_t window_of[MOST_POINT_PATHS];	/* by the path's index, plus 1; 0: none */
static bool returns_wanted;

/* ---- Reading the table ----------------------------------------------------------------------- */

static int by_address(const void *one, const void *other)
{
	const struct point *a = one, *b = other;

	return (a->address > b->address) - (a->address < b->address);
}

static bool add_range(struct range *ranges, size_t *count, const unsigned long long *numbers)
{
	if (*count == MOST_RANGES)
		return false;
	ranges[*count] = (struct range){ numbers[0], numbers[1] };
	++*count;
	return true;
}

static bool add_point(char kind, const unsigned long long *numbers)
{
	if (point_count == MOST_POINTS || numbers[0] >= MOST_WINDOWS)
		return false;
	points[point_count++] = (struct point){
		.address = numbers[1], .from = { numbers[2], numbers[3] }, .window = numbers[0],
		.begins = kind == 'b' || kind == 'B', .at_return = kind == 'B' || kind == 'E',
	};
	returns_wanted |= kind == 'B' || kind == 'E';
	return true;
}

static bool read_fact(const char *line)
{
	unsigned long long numbers[4];
	char kind;
	int count = sscanf(line, "%c %llx %llx %llx %llx", &kind, &numbers[0], &numbers[1],
			   &numbers[2], &numbers[3]);

	switch (count == 5 || count == 3 ? kind : 0) {
	case 's':
		switch_code = (struct range){ numbers[0], numbers[1] };
		return true;
	case 'i':
		return add_range(entry_code, &entry_count, numbers);
	case 'd':
		return add_range(idle_code, &idle_count, numbers);
	case 'w':
		if (numbers[0] >= MOST_WINDOWS || count != 5)
			return false;
		windows_asked[numbers[0]].origins = numbers[1];
		windows_asked[numbers[0]].same_task = numbers[2] & 1;
		windows_asked[numbers[0]].latest = numbers[2] & 2;
		windows_asked[numbers[0]].stamped = numbers[2] & 4;
		windows_asked[numbers[0]].nth = numbers[3];
		return true;
	case 'b': case 'e': case 'B': case 'E':
		return count == 5 && add_point(kind, numbers);
	case 'U':
		if (numbers[0] >= MOST_WINDOWS)
			return false;
		windows_asked[numbers[0]].ends_in_program = true;
		return true;
	case 'p':
		if (numbers[0] >= MOST_POINT_PATHS || numbers[1] >= MOST_WINDOWS)
			return false;
		window_of[numbers[0]] = numbers[1] + 1;
		return true;
	default:
		return false;
	}
}

/* Reads the table; false if it is none. */
static bool read_points(int fd)
{
	FILE *file = lseek(fd, 0, SEEK_SET) ? NULL : fdopen(fd, "r");
	char line[128];
	bool good = file != NULL;

	while (good && fgets(line, sizeof(line), file))
		good = read_fact(line);
	if (file)
		fclose(file);
	qsort(points, point_count, sizeof(*points), by_address);
	return good;
}

/* ---- Translation ----------------------------------------------------------------------------- */

/* What has to be known of a block of code, whenever control comes to it. */
struct spot {
	uint64_t first, last;	/* its first and last instruction */
	uint16_t point, points;	/* the points at its first instruction */
	bool interrupt_entry, idle;
	bool call, ret, gate, interrupt_return, halt;	/* what its last instruction is */
};

static size_t first_point(uint64_t address)
{
	size_t low = 0, high = point_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (points[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether a block has to begin at this address. */
static bool is_point(uint64_t address)
{
	size_t point = first_point(address);

	return point < point_count && points[point].address == address;
}

static bool is_within(uint64_t address, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (address >= ranges[i].first && address < ranges[i].end)
			return true;
	return false;
}

/* Of the block from the instruction at `first` to `last`, which is at `last_address`. */
static struct spot spot_of(uint64_t first, uint64_t last_address, const struct instruction *last)
{
	enum ending ending = ending_of(last);
	struct spot spot;
	uint8_t opcode = last->bytes[prefixes(last->bytes, last->length)];

	memset(&spot, 0, sizeof(spot));	/* with its padding: spots are compared as bytes */
	spot.first = first;
	spot.last = last_address;
	spot.call = ending == CALL || ending == CALL_ANYWHERE;
	spot.gate = ending == GATE;
	spot.interrupt_return = ending == INTERRUPT_RETURN;
	spot.interrupt_entry = is_within(first, entry_code, entry_count);
	spot.ret = opcode == 0xc3 || opcode == 0xc2;
	spot.halt = opcode == 0xf4;
	spot.idle = spot.halt || is_within(first, idle_code, idle_count);
	spot.point = first_point(first);
	while (spot.point + spot.points < point_count &&
	       points[spot.point + spot.points].address == first)
		spot.points++;
	return spot;
}

/* The number of the first instruction after number `first` that is a point, or that of the end. */
static size_t up_to_point(struct qemu_plugin_tb *tb, size_t first)
{
	size_t count = qemu_plugin_tb_n_insns(tb), next = first + 1;

	if (!point_count)
		return count;
	while (next < count && !is_point(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, next))))
		next++;
	return next;
}

/* Whether the instruction loads the next task's stack pointer: mov disp(%rsi),%rsp. */
static bool loads_stack(const uint8_t *bytes, uint64_t address)
{
	return address >= switch_code.first && address < switch_code.end && bytes[0] == 0x48 &&
	       bytes[1] == 0x8b && (bytes[2] == 0xa6 || bytes[2] == 0x66);
}

/* ---- Passing a point ------------------------------------------------------------------------- */

static uint32_t chosen = NO_WINDOW;	/* the window of the path that is executed */
static struct spot before_this;		/* the block executed last */
static enum origin origin;		/* why the kernel executes, when it does */
static uint64_t last_access;	/* the place in memory accessed last */
static uint64_t elsewhere;	/* points of it that came for another reason, or in another task */
static uint64_t task;		/* the task that is executed, as loads_stack() sees it */
static uint64_t task_at_begin;	/* of the window that is open */
static uint32_t occurrences;	/* begins since the begin marker */
static uint64_t halts;		/* times that the CPU was told to wait */
static uint64_t hidden;		/* points at which an interrupt hid where control came from */

/* Calls that have not returned, of functions whose return is a point: where in memory the address
 * to return to is. One that never returns is forgotten when others have taken all places. */
enum { MOST_CALLS = 256 };
static struct { uint64_t slot; const struct point *point; } calls[MOST_CALLS];
static size_t next_call;

/* To be told each access to memory: a call's is the place of its return address. */
static inline void points_access(uint64_t address)
{
	last_access = address;
}

enum { PASSES_BEGIN = 1, PASSES_END = 2 };

/* To be told the accesses of the instruction that loads_stack(). */
static inline void on_switch(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)info;
	(void)data;
	task = address;
}

/* To be told that begins count from here on, ... */
static inline void points_counted(void)
{
	occurrences = 0;
}

/* ... and that the chosen window was opened. */
static inline void points_opened(void)
{
	task_at_begin = task;
}

static inline bool begins_anew(void)
{
	return windows_asked[chosen].latest;
}

static void choose_window(uint64_t path)
{
	uint8_t window = path < MOST_POINT_PATHS ? window_of[path] : 0;

	chosen = window ? window - 1u : NO_WINDOW;
	elsewhere = hidden = 0;
	memset(calls, 0, sizeof(calls));
}

static void find_origin(const struct spot *next)
{
	if (!is_kernel(next->first))
		return;
	if (!is_kernel(before_this.last))
		origin = before_this.gate ? FROM_CALL : FROM_PROGRAM;
	else if (next->interrupt_entry)
		origin = before_this.idle ? FROM_IDLE : FROM_KERNEL;
}

static unsigned int passed(const struct point *point)
{
	uint32_t origins = windows_asked[chosen].origins, nth = windows_asked[chosen].nth;
	bool other_task = windows_asked[chosen].same_task && task != task_at_begin;

	if (point->begins ? origins && !(origins & origin) : other_task) {
		elsewhere++;
		return 0;
	}
	if (!point->begins)
		return PASSES_END;
	return nth && ++occurrences != nth ? 0 : PASSES_BEGIN;
}

/*
 * A function is entered whose return is a point. The place of its return address: the call has just
 * stored it; if control came by a `ret`, as from a retpoline, it is the next one on the stack. One
 * that was jumped to has nothing of the kind to be known by.
 */
static void expect_return(const struct point *point)
{
	if (!before_this.call && !before_this.ret) {
		hidden++;
		return;
	}
	calls[next_call].slot = before_this.call ? last_access : last_access + 8;
	calls[next_call].point = point;
	next_call = (next_call + 1) % MOST_CALLS;
}

static unsigned int returned(void)
{
	for (size_t i = 0; i < MOST_CALLS; i++) {
		const struct point *point = calls[i].point;

		if (!point || calls[i].slot != last_access)
			continue;
		calls[i].point = NULL;
		return point->window == chosen ? passed(point) : 0;
	}
	return 0;
}

static bool comes_from(const struct range *from)
{
	if (!from->end || (before_this.last >= from->first && before_this.last < from->end))
		return true;
	hidden += before_this.interrupt_return;
	return false;
}

/* Control comes to `next`: which points of the chosen window that is, of enum PASSES_*. */
static unsigned int pass(const struct spot *next)
{
	unsigned int passes = 0;
	/* Control comes to a repeated string instruction once, not with each iteration. */
	size_t count = next->first == before_this.last ? 0 : next->points;

	find_origin(next);
	halts += before_this.halt;
	if (chosen != NO_WINDOW) {
		if (before_this.ret && returns_wanted)
			passes |= returned();
		if (windows_asked[chosen].ends_in_program && !is_kernel(next->first) &&
		    is_kernel(before_this.last))
			passes |= PASSES_END;
		for (size_t i = next->point; i < next->point + count; i++) {
			const struct point *point = &points[i];

			if (point->window != chosen || !comes_from(&point->from))
				continue;
			if (point->at_return)
				expect_return(point);
			else
				passes |= passed(point);
		}
	}
	before_this = *next;
	return passes;
}

#endif
