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
 *    and the last instruction was not executed, though it advanced the counter. At the block's end
 *    it may be either; that shows when the handler returns: to the instruction itself after an
 *    exception, to the next one after an interrupt. A handler that does not return within the
 *    window leaves the question open, and the window says how many are.
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
 * Arguments: ask=on   print the range of API versions that QEMU takes, and end QEMU
 *            fd=N     the inherited descriptor to write to
 */
#include "common.h"

/* ---- Code ------------------------------------------------------------------------------------ */

enum ending {			/* how control leaves a block's last instruction */
	NEXT,			/* to the next one */
	JUMP,			/* to the next one or to `target` */
	CALL,			/* to `target` */
	ANYWHERE,		/* to an address from memory or a register */
	CALL_ANYWHERE,
	GATE,			/* into the kernel or out of it */
	INTERRUPT_RETURN,
	REPEAT,			/* to the next one, or to itself */
};

struct piece {			/* the beginning of a block, as far as it was executed */
	struct block *block;
	uint32_t executed;	/* instructions */
	uint32_t window;	/* in which the counts below were begun */
	uint64_t count;		/* times that it was executed */
	uint64_t on;		/* of these, control went on to the address after it */
	uint64_t undone;	/* of these, its last instruction was not executed after all */
	bool entered;		/* by a call, an interrupt, or from user mode: a function begins */
	struct piece *next;	/* of the same block */
};

struct instruction {
	uint8_t length;
	uint8_t bytes[MAX_LENGTH];
};

struct block {
	uint64_t start, end;	/* virtual addresses */
	uint64_t target;	/* of a JUMP or CALL */
	enum ending ending;
	bool stamp;		/* ends with rdtsc */
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

static uint64_t is_kernel(uint64_t address)
{
	return address >> 63;
}

/* Bytes before the opcode. A single byte 0x40 to 0x4f is an instruction of 32-bit code. */
static size_t prefixes(const uint8_t *bytes, size_t length)
{
	static const uint8_t LEGACY[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3,
	};
	size_t count = 0;

	while (count + 1 < length &&
	       (memchr(LEGACY, bytes[count], sizeof(LEGACY)) || bytes[count] >> 4 == 4))
		count++;
	return count;
}

/* Whether it repeats; `opcode` is what follows the prefixes. Intel SDM volume 2, "REP". */
static bool repeats(const uint8_t *bytes, const uint8_t *opcode)
{
	bool string = (*opcode & 0xfc) == 0xa4 || (*opcode >= 0xaa && *opcode <= 0xaf) ||
		      (*opcode & 0xfc) == 0x6c;

	return string &&
	       (memchr(bytes, 0xf2, opcode - bytes) || memchr(bytes, 0xf3, opcode - bytes));
}

/* Intel SDM volume 2, appendix A: the opcodes that transfer control. */
static enum ending ending_of(const struct instruction *last)
{
	const uint8_t *bytes = last->bytes;
	const uint8_t *opcode = bytes + prefixes(bytes, last->length);
	size_t left = last->length - (opcode - bytes);
	uint8_t second = left > 1 ? opcode[1] : 0;

	if (repeats(bytes, opcode))
		return REPEAT;
	switch (*opcode) {
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3: case 0xe9: case 0xeb:
		return JUMP;
	case 0xe8:
		return CALL;
	case 0xcf:
		return INTERRUPT_RETURN;
	case 0xcc: case 0xcd:
		return GATE;
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xea: case 0x9a:
		return ANYWHERE;
	case 0xff:
		if ((second >> 3 & 7) == 2 || (second >> 3 & 7) == 3)
			return CALL_ANYWHERE;
		return (second >> 3 & 7) == 4 || (second >> 3 & 7) == 5 ? ANYWHERE : NEXT;
	case 0x0f:
		if (second >> 4 == 8)
			return JUMP;
		/* syscall, sysret, sysenter, sysexit */
		return second == 0x05 || second == 0x07 || second == 0x34 || second == 0x35 ?
			GATE : NEXT;
	default:
		return NEXT;
	}
}

/* Of a direct jump or call: its displacement stands at its end, in one byte or in four. */
static uint64_t target_of(const struct instruction *last, uint64_t end)
{
	const uint8_t *opcode = last->bytes + prefixes(last->bytes, last->length);
	bool near = *opcode == 0xe8 || *opcode == 0xe9 || *opcode == 0x0f;
	size_t width = near ? 4 : 1;
	int32_t displacement;

	if (last->length < width)
		return end;
	if (!near)
		return end + (int64_t)(int8_t)last->bytes[last->length - 1];
	memcpy(&displacement, last->bytes + last->length - 4, 4);
	return end + (int64_t)displacement;
}

static bool is_stamp(const struct instruction *last)
{
	return last->length == 2 && last->bytes[0] == 0x0f && last->bytes[1] == 0x31;
}

/* ---- State; under the exact clock, all vCPUs take turns on one thread ----------------------- */

static enum { OUTSIDE, BEGUN, INSIDE } state;	/* BEGUN: its first stamp has not come yet */
static uint32_t window;

static struct block *current;	/* is being executed */
static uint64_t before;		/* the step counter when it was begun */
static bool entered;		/* how it was come to, see struct piece */
static bool moved;		/* it is a string instruction, and has accessed all that it does */
static bool halfway;		/* it accesses two places, and has accessed one */

static struct piece **touched;	/* in this window, in the order of the first execution */
static size_t touched_count, touched_room;

/* What came after the last stamp: counters to be counted down again if no other stamp comes. */
enum { LONGEST_LOG = 1 << 22 };
static uint64_t *counted[LONGEST_LOG];
static size_t counted_count;
static bool counted_lost;

struct accesses {
	uint64_t loads, stores, load_bytes, store_bytes, splits, string_bytes, lines, pages;
};
static struct accesses accesses, at_stamp;

/* Ends of blocks at which an interrupt or an exception came whose handler has not returned. */
enum { MOST_OPEN = 64 };
static struct { struct piece *piece; uint64_t last, next; bool moved; } open_ends[MOST_OPEN];
static unsigned int open_count;
static uint64_t unresolved, unresolved_at_stamp;

static bool broken;		/* a limit is reached: this window is not told */
static bool instrumented;	/* all code, not only markers */
static bool deaf;		/* some code is not instrumented: no window is told any more */

/* ---- Sets of addresses ----------------------------------------------------------------------- */

struct set {			/* emptied by a new number of window */
	struct { uint64_t value; uint32_t window; } *places;
	size_t size, filled;	/* size is a power of two */
	uint32_t window;
};
static struct set lines, pages;
enum { FIRST_SIZE = 1 << 10, LARGEST_SIZE = 1 << 22 };

static size_t place_of(const struct set *set, uint64_t value)
{
	size_t place = (value * 0x9e3779b97f4a7c15u) >> 32 & (set->size - 1);

	while (set->places[place].window == window && set->places[place].value != value)
		place = (place + 1) & (set->size - 1);
	return place;
}

static bool grow(struct set *set)
{
	struct set larger = { .size = set->size ? 2 * set->size : FIRST_SIZE, .window = window };

	if (larger.size > LARGEST_SIZE)
		return false;
	larger.places = calloc(larger.size, sizeof(*larger.places));
	if (!larger.places)
		return false;
	for (size_t i = 0; i < set->size; i++) {
		if (set->places[i].window == window)
			larger.places[place_of(&larger, set->places[i].value)] = set->places[i];
	}
	larger.filled = set->filled;
	free(set->places);
	*set = larger;
	return true;
}

/* Whether it was not there yet. */
static bool insert(struct set *set, uint64_t value)
{
	size_t place;

	if (set->window != window) {
		set->window = window;
		set->filled = 0;
	}
	if (2 * set->filled >= set->size && !grow(set)) {
		broken = true;
		return false;
	}
	place = place_of(set, value);
	if (set->places[place].window == window)
		return false;
	set->places[place].window = window;
	set->places[place].value = value;
	set->filled++;
	return true;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* The counter that instructions advance; from API version 2 on there is one for each CPU. */
static uint64_t step_counter;
static struct qemu_plugin_scoreboard *scores;
enum { MOST_CPUS = 2 };
static uint64_t *steps_of[MOST_CPUS];
static unsigned int cpus;

/* Only now: a scoreboard may be looked into once there are CPUs. */
static void find_counters(void)
{
	for (unsigned int cpu = 0; scores && cpu < cpus; cpu++)
		steps_of[cpu] = scoreboard_find(scores, cpu);
}

static uint64_t steps(void)
{
	uint64_t sum = step_counter;

	for (unsigned int cpu = 0; scores && cpu < cpus; cpu++)
		sum += *steps_of[cpu];
	return sum;
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
	piece->count = piece->on = piece->undone = 0;
	piece->entered = false;
	touched[touched_count++] = piece;
}

static void count(uint64_t *counter)
{
	(*counter)++;
	if (counted_count < LONGEST_LOG)
		counted[counted_count++] = counter;
	else
		counted_lost = true;
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
			count(&open_ends[i].piece->on);
		else if (!open_ends[i].moved)
			count(&open_ends[i].piece->undone);
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

/* Control left the current block after `executed` instructions; the next block is at `address`. */
static void leave(uint64_t executed, uint64_t address)
{
	struct block *block = current;
	uint64_t last = block->start, end;
	struct piece *piece;
	bool interrupted;

	if (executed == 0 || executed > block->size) {
		broken |= executed != 0;
		return;
	}
	for (uint64_t i = 0; i + 1 < executed; i++)
		last += block->instructions[i].length;
	end = last + block->instructions[executed - 1].length;
	piece = piece_of(block, executed);
	touch(piece);
	count(&piece->count);
	piece->entered |= entered;
	interrupted = address != end &&
		      (executed < block->size || !leads_to(block, last, address));
	if (address == end)
		count(&piece->on);
	else if (executed < block->size)
		count(&piece->undone);
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
	unresolved = 0;
	broken = entered = false;
	memset(&accesses, 0, sizeof(accesses));
	state = INSIDE;
}

static void stamp(void)
{
	counted_count = 0;
	counted_lost = false;
	at_stamp = accesses;
	unresolved_at_stamp = unresolved + open_count;
}

static void on_block(unsigned int vcpu, void *data)
{
	struct block *next = data;
	uint64_t now = steps();

	(void)vcpu;
	if (state == INSIDE)
		leave(now - before, next->start);
	if (state != OUTSIDE && current->stamp && now - before == current->size) {
		if (state == BEGUN)
			begin_window();
		stamp();
	}
	before = now;
	moved = halfway = false;
	current = next;
}

/* What a memory callback of a string instruction means, by its opcode. */
enum { PLAIN, LAST_ACCESS_IS_STORE, LAST_ACCESS_IS_LOAD, LOADS_TWICE };

static void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t bytes = 1u << qemu_plugin_mem_size_shift(info);
	bool store = qemu_plugin_mem_is_store(info);
	uintptr_t string = (uintptr_t)data;

	(void)vcpu;
	if (state != INSIDE)
		return;
	if (store) {
		accesses.stores++;
		accesses.store_bytes += bytes;
	} else {
		accesses.loads++;
		accesses.load_bytes += bytes;
	}
	accesses.lines += insert(&lines, address >> 6);
	accesses.pages += insert(&pages, address >> 12);
	if ((address & 63) + bytes > 64) {
		accesses.splits++;
		accesses.lines += insert(&lines, (address + bytes - 1) >> 6);
		accesses.pages += insert(&pages, (address + bytes - 1) >> 12);
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

enum tag { BLOCK = 1, PATH, WINDOW, AGAIN, BROKEN };
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

static void tell_piece(const struct piece *piece)
{
	tell(piece->block->number);
	tell(piece->executed);
	tell(piece->count);
	tell(piece->on);
	tell(piece->undone);
	tell(piece->entered);
}

static void tell_window(void)
{
	const uint64_t numbers[] = {
		at_stamp.loads, at_stamp.stores, at_stamp.load_bytes, at_stamp.store_bytes,
		at_stamp.splits, at_stamp.string_bytes, at_stamp.lines, at_stamp.pages,
		unresolved_at_stamp,
	};
	uint64_t pieces = 0;

	while (counted_count)
		(*counted[--counted_count])--;
	for (size_t i = 0; i < touched_count; i++)
		pieces += touched[i]->count != 0;
	told.length = 0;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		tell(numbers[i]);
	tell(pieces);
	for (size_t i = 0; i < touched_count; i++) {
		if (!touched[i]->count)
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

static void on_begin(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	state = BEGUN;
}

static void on_end(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (state == OUTSIDE)
		return;
	broken |= deaf || state != INSIDE || counted_lost;
	if (!broken)
		tell_window();
	state = OUTSIDE;
	if (broken) {
		reserve(1);
		put(BROKEN);
	} else {
		write_window();
	}
	/* The host may end the guest at any time after the probe's report. */
	flush();
}

static void on_path(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	state = OUTSIDE;
	reserve(1);
	put(PATH);
	flush();
	if (!instrumented) {
		find_counters();
		api->reset();
	}
	instrumented = true;
}

/* ---- Translation ----------------------------------------------------------------------------- */

static exec_cb_t *const on_marker[MARKERS] = { NULL, on_begin, on_end, on_path };

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

enum { LARGEST_BLOCK = 512 };	/* instructions; QEMU's TCG_MAX_INSNS */

/* The block as QEMU translated it. */
static struct block *block_of(struct qemu_plugin_tb *tb)
{
	static struct {
		struct block block;
		struct instruction room[LARGEST_BLOCK];
	} scratch;
	struct block *like = &scratch.block;
	const struct instruction *last;

	memset(&scratch, 0, sizeof(scratch));
	like->size = qemu_plugin_tb_n_insns(tb);
	if (like->size == 0 || like->size > LARGEST_BLOCK)
		return NULL;
	like->start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	like->end = like->start;
	for (uint32_t i = 0; i < like->size; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		like->instructions[i].length = bytes_of(insn, like->instructions[i].bytes);
		like->end += like->instructions[i].length;
	}
	last = &like->instructions[like->size - 1];
	like->ending = ending_of(last);
	like->target = target_of(last, like->end);
	like->stamp = is_stamp(last);
	like->whole.executed = like->size;
	return intern(like);
}

/* Intel SDM volume 2: movs and cmps access two places, stos and ins store, the others load. */
static uintptr_t string_accesses(const struct instruction *instruction)
{
	const uint8_t *opcode =
		instruction->bytes + prefixes(instruction->bytes, instruction->length);

	if (!repeats(instruction->bytes, opcode))
		return PLAIN;
	switch (*opcode & 0xfe) {
	case 0xa4: case 0xaa: case 0x6c:
		return LAST_ACCESS_IS_STORE;
	case 0xa6:
		return LOADS_TWICE;
	default:
		return LAST_ACCESS_IS_LOAD;
	}
}

/* Has the step counter advanced by `number` before each execution of the instruction. */
static void advance(struct qemu_plugin_insn *insn, uint64_t number)
{
	const qemu_plugin_u64 per_cpu = { .score = scores };

	if (scores)
		register_inline_v2(insn, INLINE_ADD, per_cpu, number);
	else
		register_inline_v1(insn, INLINE_ADD, &step_counter, number);
}

/* A nop of one byte: it can't fault, so it may be counted with what comes after it. */
static bool is_nop(const struct instruction *instruction)
{
	return instruction->length == 1 && instruction->bytes[0] == 0x90;
}

static void translate_markers(struct qemu_plugin_tb *tb)
{
	uint8_t bytes[MAX_LENGTH];

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (marker(bytes, bytes_of(insn, bytes)) == PATH_MARKER)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_path, CB_NO_REGS, NULL);
	}
}

static void translate_all(struct qemu_plugin_tb *tb)
{
	struct block *block = block_of(tb);
	uint64_t uncounted;

	if (!block) {
		deaf = true;
		return;
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, CB_NO_REGS, block);
	uncounted = 0;
	for (uint32_t i = 0; i < block->size; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const struct instruction *instruction = &block->instructions[i];
		exec_cb_t *cb = on_marker[marker(instruction->bytes, instruction->length)];

		uncounted++;
		if (is_nop(instruction) && i + 1 < block->size)
			continue;
		advance(insn, uncounted);
		uncounted = 0;
		if (cb)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, CB_NO_REGS, NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW,
						 (void *)string_accesses(instruction));
	}
}

/* ---- Start ----------------------------------------------------------------------------------- */

static void after_reset(void)
{
	translate = translate_all;
	api->start();
}

static void make_counters(const qemu_info_t *info)
{
	cpus = info->smp_vcpus < MOST_CPUS ? info->smp_vcpus : MOST_CPUS;
	if (scoreboard_new)
		scores = scoreboard_new(sizeof(uint64_t));
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	static const uint8_t HEADER[8] = "PMCT\1";
	uint64_t fd = 0;

	if (asked(info, argc, argv))
		return -1;
	if (argc != 1 || !number(argv[0], "fd", &fd) || fd < 3) {
		fprintf(stderr, "counter: needs fd=N\n");
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
