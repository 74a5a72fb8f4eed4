/*
 * Client requests: found in what a block stores, and carried out.
 */
#include "program/callgrind.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "common/api.h"
#include "common/qemu.h"
#include "kernel/ram.h"
#include "program/regions.h"
#include "program/task.h"

#define CALLGRIND 0x43540000u	/* VG_USERREQ_TOOL_BASE('C','T') */

struct stored stored;

/* A process collects from START, or a TOGGLE, on; what it collected is dumped with a name. */
struct collection {
	bool on;
	unsigned int dumps;
	struct counts begin, sum;
};
static struct collection collection;

static void collect(const struct counts *now)
{
	struct counts *sum = &collection.sum;

	if (collection.on) {
		sum->steps += now->steps - collection.begin.steps;
		sum->surplus += now->surplus - collection.begin.surplus;
		sum->string_bytes += now->string_bytes - collection.begin.string_bytes;
		sum->user += now->user - collection.begin.user;
		sum->lines += now->lines - collection.begin.lines;
		sum->visits += now->visits - collection.begin.visits;
		for (size_t i = 0; i < classes.count; i++)
			sum->events[i] += now->events[i] - collection.begin.events[i];
	}
	collection.begin = *now;
}

void count_collected(enum turn turn, uint64_t more)
{
	if (collection.on)
		collection.sum.events[classes.turns[turn] - 1] += more;
}

/* The text at a guest's address, up to `room` bytes with its end; false if it can't be read, as
 * before version 4 of the API. */
static bool read_text(uint64_t address, char *text, size_t room)
{
	byte_array_t *bytes;
	size_t length = 0;

	if (!read_memory_v4 || !g_byte_array_new || !g_byte_array_free || !address)
		return false;
	bytes = g_byte_array_new();
	/* Byte by byte: the page after its end may not be there. */
	while (length + 1 < room && read_memory_v4(address + length, bytes, 1) && bytes->len &&
	       *bytes->data)
		text[length++] = (char)*bytes->data;
	text[length] = 0;
	g_byte_array_free(bytes, 1);
	return length > 0;
}

static void dump(const char *name)
{
	const struct region region = { .name = number_of(name) };

	if (region.name == NOTHING)
		misuse(NO_NAME, NOTHING, NOTHING);
	else if (collection.sum.steps)
		put_region(&region, &collection.sum);
	collection.sum = (struct counts){ 0 };
}

/* Dumps have numbers if they have no names that can be read. */
static void dump_numbered(void)
{
	char name[32];

	snprintf(name, sizeof(name), "callgrind.%u", ++collection.dumps);
	dump(name);
}

void carry_out(enum request what, uint64_t argument, const struct counts *now)
{
	char name[LONGEST_NAME + 1];

	collect(now);
	switch (what) {
	case START:
		collection.on = true;
		break;
	case STOP:
		collection.on = false;
		break;
	case TOGGLE:
		collection.on = !collection.on;
		break;
	case ZERO:
		collection.sum = (struct counts){ 0 };
		break;
	case DUMP:
		dump_numbered();
		break;
	case DUMP_AT:
		if (read_text(argument, name, sizeof(name)))
			dump(name);
		else
			dump_numbered();
		break;
	default:
		break;
	}
}

void end_collection(const struct counts *now)
{
	collect(now);
	if (collection.sum.steps)
		dump_numbered();
	collection = (struct collection){ 0 };
}

/* Whether the block's instructions from number `first` on are these. */
static bool is_preamble(struct qemu_plugin_tb *tb, size_t first, const struct preamble *preamble)
{
	if (first + LONGEST_PREAMBLE > qemu_plugin_tb_n_insns(tb))
		return false;
	for (size_t i = 0; i < LONGEST_PREAMBLE; i++) {
		const struct instruction *like = &preamble->instructions[i];
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, first + i);
		const struct instruction instruction = instruction_of(insn);

		if (memcmp(&instruction, like, sizeof(*like)))
			return false;
	}
	return true;
}

size_t request_at(struct qemu_plugin_tb *tb, size_t first, uintptr_t *size)
{
	for (size_t i = 0; i < PREAMBLES; i++) {
		if (is_preamble(tb, first, &preambles[i])) {
			*size = preambles[i].word;
			return first + LONGEST_PREAMBLE;
		}
	}
	return 0;
}

void on_store(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)data;
	if (!account.open || !qemu_plugin_mem_is_store(info))
		return;
	stored.stores[stored.count % MOST_STORES].address = address;
	stored.stores[stored.count++ % MOST_STORES].place = accessed(info, address, 4);
}

/* A word of 4 or 8 bytes. */
static uint64_t word_at(const uint8_t *place, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, place, size);
	return word;
}

enum request last_request(size_t size, uint64_t *argument)
{
	enum { WORDS = 6 };

	for (size_t i = stored.count; i-- > 0 && stored.count - i <= MOST_STORES;) {
		const uint8_t *place = stored.stores[i % MOST_STORES].place;
		uint64_t in_page = stored.stores[i % MOST_STORES].address & 4095;

		for (size_t word = 0; place && word < WORDS && word * size <= in_page; word++) {
			uint64_t code = 0;

			if (in_page - word * size + 2 * size <= 4096)
				code = word_at(place - word * size, size);
			if (code < CALLGRIND || code >= CALLGRIND + REQUESTS)
				continue;
			*argument = word_at(place - word * size + size, size);
			return code - CALLGRIND;
		}
	}
	return REQUESTS;
}
