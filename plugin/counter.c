/*
 * The counter: a QEMU plugin that counts, for every window of every path, which blocks of code
 * were executed how often and what memory they touched, in the format of docs/count-format.md.
 * What an instruction is, and so what kind of event, the host decides (crates/trace).
 *
 * A block is a translated one: instructions that are executed in a row. QEMU leaves a block early
 * if an instruction faults, or has to be executed once more by itself (input and output under the
 * exact clock); a counter that each instruction advances before it is executed tells how far a
 * block came. Where the block after it begins tells why:
 *
 *  - at the address after the last instruction: that one was executed;
 *  - at the target of the last instruction, a jump: likewise;
 *  - anywhere else: an interrupt or an exception came. In the middle of a block it is an exception,
 *    and the last instruction was not executed, though it advanced the counter; but one that has
 *    made its only access to memory was. At the block's end it may be either; that shows when the
 *    handler returns: to the instruction itself after an exception, to the next one after an
 *    interrupt. A handler that does not return within the window leaves the question open, and the
 *    window says how many are.
 *
 * A repeated string instruction ends its block and is executed once an iteration, and once more to
 * see that nothing is left to do. It is retired when control goes on to the address after it.
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
#include "points.h"
#include "set.h"
#include "steps.h"
#include "x86.h"

/* ---- Code ------------------------------------------------------------------------------------ */

struct counts {
	uint64_t count;		/* times that it was executed */
	uint64_t on;		/* of these, control went on to the address after it */
	uint64_t undone;	/* of these, its last instruction was not executed after all */
	bool entered;		/* by a call, an interrupt, or from user mode: a function begins */
};

struct piece {			/* the beginning of a block, as far as it was executed */
	struct block *block;
	uint32_t executed;	/* instructions */
	uint32_t window;	/* in which the counts were begun */
	struct counts now;
	struct counts at_stamp;	/* what they were at the stamp with the number ... */
	uint64_t stamp;		/* ..., if that is the last one; else they are what they were */
	struct piece *next;	/* of the same block */
};

struct block {
	uint64_t start, end;	/* virtual addresses */
	uint64_t last;		/* the last instruction's */
	uint64_t target;	/* of a JUMP or CALL */
	enum ending ending;
	bool stamp;		/* ends with rdtsc */
	struct spot spot;
	bool known;		/* was written to the stream, as ... */
	uint64_t number;
	struct piece whole;
	struct block *next;	/* in its bucket */
	uint32_t size;		/* instructions */
	struct instruction instructions[];
};

enum { BUCKETS = 1 << 16 };
static struct block *blocks[BUCKETS];
static uint64_t known_blocks;
static uint64_t memory_used;
enum { MOST_MEMORY = 1 << 30 };	/* a guest that makes new code for ever gets no further */

/* ---- State; under the exact clock, all vCPUs take turns on one thread ----------------------- */

static enum { OUTSIDE, BEGUN, INSIDE } state;	/* BEGUN: its first stamp has not come yet */
static uint32_t window;

static struct block *current;	/* is being executed */
static uint64_t before;		/* the step counter when it was begun */
static bool entered;		/* how it was come to, see struct piece */
static bool moved;		/* its last instruction has made all accesses that it makes */
static bool halfway;		/* it accesses two places, and has accessed one */
static uint64_t accessed_at;	/* the step counter at the last access */

static struct piece **touched;	/* in this window, in the order of the first execution */
static size_t touched_count, touched_room;

static uint64_t stamps;		/* so far, in all windows */

struct accesses {
	uint64_t loads, stores, load_bytes, store_bytes, splits, string_bytes, lines, pages;
};
static struct accesses accesses, at_stamp;
static bool repeating;		/* a string instruction is to be executed once more */
static uint64_t checks, checks_at_stamp;	/* executions that only saw that it is done */
static uint64_t faults, faults_at_stamp;	/* exceptions: instructions begun, not executed */
static uint64_t halts_at_begin, halts_at_stamp;
static uint64_t idle_at_begin, idle_at_stamp;
static bool idle_unknown_at_stamp;

/* Between points. */
static bool begins_count;	/* between a begin marker and its end marker */
static bool observed;		/* ends are seen */
static uint64_t overlapping;	/* begins while a window was open */
static uint64_t loose_ends;	/* ends while none was */
static uint64_t told_windows, untold;
/* Windows of an execution, and of them those that began from one begin marker to the next; others
 * are only numbered. The host looks at the first 64 after the third marker (crates/pathmeter,
 * windows.rs). */
enum { MOST_TOLD = 512, MOST_MARKED = 64 };
static uint64_t marked_windows;		/* told since the marker told last */
static uint64_t markers, told_markers;	/* begin markers of this execution */
static uint64_t marker_of_window;	/* the number of the last one before it began */
static bool misplaced[MOST_POINTS];	/* points in the middle of an instruction */

/* Ends of blocks at which an interrupt or an exception came whose handler has not returned. */
enum { MOST_OPEN = 64 };
static struct { struct piece *piece; uint64_t last, next; bool moved; } open_ends[MOST_OPEN];
static unsigned int open_count;
static uint64_t unresolved, unresolved_at_stamp;

static struct set lines, pages;	/* of data */
static uint64_t last_line;	/* the one accessed last; at first a number that no line has */

static bool broken;		/* a limit is reached: this window is not told */
static bool instrumented;	/* all code, not only markers */
static bool deaf;		/* some code is not instrumented: no window is told any more */

/* ---- Counting -------------------------------------------------------------------------------- */

static uint64_t steps(void)
{
	return steps_of(0);
}

/* The first `executed` instructions of the block. */
static struct piece *piece_of(struct block *block, uint32_t executed)
{
	struct piece *piece = &block->whole;

	while (piece && piece->executed != executed)
		piece = piece->next;
	if (piece)
		return piece;
	piece = calloc(1, sizeof(*piece));
	if (!piece) {
		broken = true;
		return &block->whole;
	}
	piece->block = block;
	piece->executed = executed;
	piece->next = block->whole.next;
	block->whole.next = piece;
	return piece;
}

/* Begins the piece's counts of this window. */
static void touch(struct piece *piece)
{
	if (piece->window == window)
		return;
	if (touched_count == touched_room) {
		size_t room = touched_room ? 2 * touched_room : 1024;
		struct piece **more = realloc(touched, room * sizeof(struct piece *));

		if (!more) {
			broken = true;
			return;
		}
		touched = more;
		touched_room = room;
	}
	piece->window = window;
	piece->stamp = stamps;
	piece->now = piece->at_stamp = (struct counts){ 0 };
	touched[touched_count++] = piece;
}

/* The counts, to be changed. If no other stamp comes, what they were at the last one holds. */
static struct counts *change(struct piece *piece)
{
	if (piece->stamp != stamps) {
		piece->stamp = stamps;
		piece->at_stamp = piece->now;
	}
	return &piece->now;
}

static void leave_open(struct piece *piece, uint64_t last, uint64_t next)
{
	if (open_count == MOST_OPEN) {
		unresolved++;
		open_count--;
		memmove(open_ends, open_ends + 1, open_count * sizeof(*open_ends));
	}
	open_ends[open_count].piece = piece;
	open_ends[open_count].last = last;
	open_ends[open_count].next = next;
	open_ends[open_count].moved = moved;
	open_count++;
}

/* A handler has returned to `address`. */
static void resolve(uint64_t address)
{
	for (unsigned int i = open_count; i-- > 0;) {
		if (open_ends[i].last != address && open_ends[i].next != address)
			continue;
		if (open_ends[i].next == address)
			change(open_ends[i].piece)->on++;
		else if (!open_ends[i].moved) {
			change(open_ends[i].piece)->undone++;
			faults++;
		}
		open_count--;
		memmove(open_ends + i, open_ends + i + 1, (open_count - i) * sizeof(*open_ends));
		return;
	}
}

/* Whether control goes from the end of `block`, whose last instruction is at `last`, to `address`
 * without an interrupt. */
static bool leads_to(const struct block *block, uint64_t last, uint64_t address)
{
	switch (block->ending) {
	case NEXT:
		return false;
	case JUMP: case CALL:	/* in 32-bit code addresses wrap */
		return address == block->target || address == (uint32_t)block->target;
	case REPEAT:
		return address == last;
	case ANYWHERE: case CALL_ANYWHERE:
		return is_kernel(last) == is_kernel(address);
	case GATE: case INTERRUPT_RETURN:
		return true;
	}
	return false;
}

/* Whether the last of the first `executed` instructions was executed, though the block was left
 * with it: a `mov` that has made its access to a device. QEMU executes that outside of the block,
 * and an interrupt or the other CPU's turn may follow. */
static bool was_executed(const struct block *block, uint64_t executed)
{
	return accessed_at == before + executed && is_mov(&block->instructions[executed - 1]);
}

/* Control left the current block after `executed` instructions; the next block is at `address`. */
static void leave(uint64_t executed, uint64_t address)
{
	struct block *block = current;
	uint64_t last = block->last, end = block->end;
	struct piece *piece = &block->whole;
	struct counts *counts;
	bool interrupted;

	if (executed == 0 || executed > block->size) {
		broken |= executed != 0;
		return;
	}
	if (executed < block->size) {
		piece = piece_of(block, executed);
		end = block->start;
		for (uint64_t i = 0; i < executed; i++) {
			last = end;
			end += block->instructions[i].length;
		}
	}
	moved |= executed < block->size && was_executed(block, executed);
	touch(piece);
	counts = change(piece);
	counts->count++;
	counts->entered |= entered;
	interrupted = address != end &&
		      (executed < block->size || !leads_to(block, last, address));
	checks += repeating && !moved && address == end;
	repeating = block->ending == REPEAT && executed == block->size && address == last;
	if (address == end)
		counts->on++;
	else if (executed < block->size && !moved) {
		counts->undone++;
		/* One that is executed once more at once did input or output. */
		faults += address != last;
	}
	else if (interrupted)
		leave_open(piece, last, end);
	else if (block->ending == INTERRUPT_RETURN)
		resolve(address);
	entered = interrupted || (address != end && (block->ending == CALL ||
		  block->ending == CALL_ANYWHERE || is_kernel(address) > is_kernel(last)));
}

static void begin_window(void)
{
	window++;
	touched_count = open_count = 0;
	unresolved = checks = faults = 0;
	broken = entered = repeating = false;
	last_line = UINT64_MAX;
	memset(&accesses, 0, sizeof(accesses));
	halts_at_begin = halts;
	idle_at_begin = idle_time;
	idle_unknown = false;
	state = INSIDE;
}

static void stamp(void)
{
	stamps++;
	at_stamp = accesses;
	unresolved_at_stamp = unresolved + open_count;
	checks_at_stamp = checks;
	faults_at_stamp = faults;
	halts_at_stamp = halts;
	idle_at_stamp = idle_time;
	idle_unknown_at_stamp = idle_unknown;
}

static bool end_window(void);

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

static void touch_data(uint64_t address)
{
	enum inserted line, page;

	/* Accesses in a row are mostly to one line. */
	if (address >> 6 == last_line)
		return;
	last_line = address >> 6;
	line = insert(&lines, window, address >> 6);
	if (line != NEW) {
		broken |= line == NO_ROOM;
		return;
	}
	page = insert(&pages, window, address >> 12);
	accesses.lines++;
	accesses.pages += page == NEW;
	broken |= page == NO_ROOM;
}

static void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t bytes = 1u << qemu_plugin_mem_size_shift(info);
	bool store = qemu_plugin_mem_is_store(info);
	uintptr_t string = (uintptr_t)data;

	(void)vcpu;
	points_access(address);
	if (state != INSIDE)
		return;
	accessed_at = steps();
	if (store) {
		accesses.stores++;
		accesses.store_bytes += bytes;
	} else {
		accesses.loads++;
		accesses.load_bytes += bytes;
	}
	touch_data(address);
	if ((address & 63) + bytes > 64) {
		accesses.splits++;
		touch_data(address + bytes - 1);
	}
	if (string == PLAIN || store != (string == LAST_ACCESS_IS_STORE))
		return;
	if (string == LOADS_TWICE && !halfway) {
		halfway = true;
		return;
	}
	moved = true;
	accesses.string_bytes += bytes;
}

/* ---- Windows and the stream ------------------------------------------------------------------ */

enum tag { BLOCK = 1, PATH, WINDOW, AGAIN, BROKEN, BEGINS_COUNT, NO_END, LOOSE };
enum { LONGEST_NUMBER = 10 };

/* What was written of the last window, so that an equal one costs a byte. */
struct text {
	uint8_t *bytes;
	size_t length, room;
};
static struct text told, last_told;

static void tell(uint64_t value)
{
	if (told.length + LONGEST_NUMBER > told.room) {
		size_t room = told.room ? 2 * told.room : 4096;
		uint8_t *more = realloc(told.bytes, room);

		if (!more) {
			broken = true;
			return;
		}
		told.bytes = more;
		told.room = room;
	}
	for (; value >= 0x80; value >>= 7)
		told.bytes[told.length++] = value | 0x80;
	told.bytes[told.length++] = value;
}

static void define(struct block *block)
{
	block->known = true;
	block->number = known_blocks++;
	reserve(1 + 8 + LONGEST_NUMBER);
	put(BLOCK);
	put_word(block->start);
	put_unsigned(block->size);
	for (uint32_t i = 0; i < block->size; i++) {
		reserve(1 + MAX_LENGTH);
		put(block->instructions[i].length);
		put_bytes(block->instructions[i].bytes, block->instructions[i].length);
	}
}

/* What it had been counted at the last stamp. */
static const struct counts *counts_of(const struct piece *piece)
{
	return piece->stamp == stamps ? &piece->at_stamp : &piece->now;
}

static void tell_piece(const struct piece *piece)
{
	const struct counts *counts = counts_of(piece);

	tell(piece->block->number);
	tell(piece->executed);
	tell(counts->count);
	tell(counts->on);
	tell(counts->undone);
	tell(counts->entered);
}

static void tell_window(void)
{
	const uint64_t numbers[] = {
		at_stamp.loads, at_stamp.stores, at_stamp.load_bytes, at_stamp.store_bytes,
		at_stamp.splits, at_stamp.string_bytes, at_stamp.lines, at_stamp.pages,
		unresolved_at_stamp, checks_at_stamp, faults_at_stamp,
		halts_at_stamp - halts_at_begin, idle_at_stamp - idle_at_begin,
		idle_unknown_at_stamp,
	};
	uint64_t pieces = 0;

	for (size_t i = 0; i < touched_count; i++)
		pieces += counts_of(touched[i])->count != 0;
	told.length = 0;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		tell(numbers[i]);
	tell(pieces);
	for (size_t i = 0; i < touched_count; i++) {
		if (!counts_of(touched[i])->count)
			continue;
		if (!touched[i]->block->known)
			define(touched[i]->block);
		tell_piece(touched[i]);
	}
}

static void write_window(void)
{
	struct text text = last_told;

	reserve(1);
	if (told.length == last_told.length &&
	    !memcmp(told.bytes, last_told.bytes, told.length)) {
		put(AGAIN);
		return;
	}
	put(WINDOW);
	for (size_t done = 0; done < told.length;) {
		size_t length = told.length - done;

		if (length > BUFFER / 2)
			length = BUFFER / 2;
		reserve(length);
		put_bytes(told.bytes + done, length);
		done += length;
	}
	last_told = told;
	told = text;
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
	untold++;
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
	tell_loose((const uint64_t[]){ overlapping, loose_ends, untold, also->elsewhere,
				       also->hidden, misplaced_points() });
	observed = begins_count = false;
	overlapping = loose_ends = untold = 0;
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

/* ---- Translation ----------------------------------------------------------------------------- */

static exec_cb_t *const on_marker[MARKERS] = {
	[BEGIN_MARKER] = on_begin, [END_MARKER] = on_end, [PATH_MARKER] = on_path,
};

/* The block's entry, made when it is new, for as long as QEMU lives; NULL without memory. */
static struct block *intern(const struct block *like)
{
	size_t bytes = sizeof(*like) + like->size * sizeof(*like->instructions);
	struct block **bucket = &blocks[(like->start * 0x9e3779b97f4a7c15u) >> 48];
	struct block *block;

	for (block = *bucket; block; block = block->next)
		if (block->start == like->start && block->size == like->size &&
		    !memcmp(block->instructions, like->instructions,
			    like->size * sizeof(*like->instructions)))
			return block;
	memory_used += bytes;
	block = memory_used < MOST_MEMORY ? malloc(bytes) : NULL;
	if (!block)
		return NULL;
	memcpy(block, like, bytes);
	block->whole.block = block;
	block->next = *bucket;
	*bucket = block;
	return block;
}

/* The block of `size` instructions from the one with number `first` on. */
static struct block *block_of(struct qemu_plugin_tb *tb, size_t first, size_t size)
{
	static struct {
		struct block block;
		struct instruction room[LARGEST_BLOCK];
	} scratch;
	struct block *like = &scratch.block;
	const struct instruction *last;

	memset(&scratch, 0, sizeof(scratch));
	if (size == 0 || size > LARGEST_BLOCK)
		return NULL;
	like->size = size;
	like->start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, first));
	like->end = like->start;
	for (uint32_t i = 0; i < like->size; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, first + i);

		like->instructions[i].length = bytes_of(insn, like->instructions[i].bytes);
		like->last = like->end;
		like->end += like->instructions[i].length;
	}
	last = &like->instructions[like->size - 1];
	like->ending = ending_of(last);
	like->target = target_of(last, like->end);
	like->stamp = is_stamp(last);
	like->spot = spot_of(like->start, like->last, last);
	like->whole.executed = like->size;
	return intern(like);
}

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
