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
 * The plugin that includes this file chooses windows, and calls pass() before each block of code,
 * with its spot: a point is always the first instruction of one.
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

static uint32_t chosen;		/* the windows that are looked for, a bit each */
static struct spot before_this;		/* the block executed last */
static enum origin origin;		/* why the kernel executes, when it does */
static uint64_t last_access;	/* the place in memory accessed last */
static uint64_t task;		/* the task that is executed, as loads_stack() sees it */
static uint64_t halts;		/* times that the CPU was told to wait */
static struct watched {		/* of each window: */
	uint64_t elsewhere;	/* points that came for another reason, or in another task */
	uint64_t hidden;	/* points at which an interrupt hid where control came from */
	uint64_t task_at_begin;	/* if it is open */
	uint32_t occurrences;	/* begins since begins count */
} watched[MOST_WINDOWS];

/* Calls that have not returned, of functions whose return is a point: where in memory the address
 * to return to is. One that never returns is forgotten when others have taken all places. */
enum { MOST_CALLS = 256 };
static struct { uint64_t slot; const struct point *point; } calls[MOST_CALLS];
static size_t next_call, pending_calls;
static uint64_t return_slot;	/* of the function that is entered now, if one is; 0: not known */

/* To be told each access to memory: a call's is the place of its return address. */
static inline void points_access(uint64_t address)
{
	last_access = address;
}

/* The windows that begin, and those that end; a bit each. */
struct passes {
	uint32_t begins, ends;
};

static void choose_windows(uint32_t windows)
{
	chosen = windows;
	memset(watched, 0, sizeof(watched));
	memset(calls, 0, sizeof(calls));
	pending_calls = 0;
}

/* To be told the accesses of the instruction that loads_stack(). */
static inline void on_task_switch(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)info;
	(void)data;
	task = address;
}

/* To be told that begins count from here on, ... */
static inline void points_counted(void)
{
	for (size_t window = 0; window < MOST_WINDOWS; window++)
		watched[window].occurrences = 0;
}

/* ... and that these windows were opened. */
static inline void points_opened(uint32_t windows)
{
	for (size_t window = 0; windows >> window; window++)
		if (windows >> window & 1)
			watched[window].task_at_begin = task;
}

/* Which of these windows a begin begins anew while they are open. */
static inline uint32_t begin_anew(uint32_t windows)
{
	uint32_t anew = 0;

	for (size_t window = 0; windows >> window; window++)
		anew |= (uint32_t)windows_asked[window].latest << window;
	return anew & windows;
}

/* The window of this path, if it has one. */
static inline uint32_t window_of_path(uint64_t path)
{
	uint8_t window = path < MOST_POINT_PATHS ? window_of[path] : 0;

	return window ? 1u << (window - 1) : 0;
}

static bool is_chosen(const struct point *point)
{
	return chosen >> point->window & 1;
}

static void find_origin(const struct spot *next)
{
	if (!is_kernel(next->first))
		return;
	if (!is_kernel(before_this.last))
		/* A block that ends with a call may have faulted before. */
		origin = before_this.gate && !next->interrupt_entry ? FROM_CALL : FROM_PROGRAM;
	else if (next->interrupt_entry)
		origin = before_this.idle ? FROM_IDLE : FROM_KERNEL;
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
	static bool after_return;

	if (next->interrupt_entry || before_this.interrupt_return) {
		return_slot = 0;
	} else if (before_this.call) {
		return_slot = last_access;
		/* A call that is still expected to return there never did. */
		end_calls(return_slot, NULL);
	} else if (before_this.ret) {
		return_slot = last_access + 8;
	} else if (after_return) {
		return_slot = 0;
	}
	after_return = before_this.ret;
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

	if (!from->end || (before_this.last >= from->first && before_this.last < from->end))
		return true;
	watched[point->window].hidden += before_this.interrupt_return;
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

/* Control comes to `next`: which of the chosen windows begin there, and which end. */
static struct passes pass(const struct spot *next)
{
	struct passes passes = { 0, 0 };
	/* Control comes to a repeated string instruction once, not with each iteration. */
	size_t count = next->first == before_this.last ? 0 : next->points;

	find_origin(next);
	halts += before_this.halt;
	if (chosen) {
		if (before_this.ret && returns_wanted)
			end_calls(last_access, &passes);
		if (returns_wanted)
			find_return_slot(next);
		if (!is_kernel(next->first) && is_kernel(before_this.last))
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
	before_this = *next;
	/* What is executed from here on may fault before it accesses anything. */
	last_access = 0;
	return passes;
}

#endif
