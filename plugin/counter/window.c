/*
 * What a window counts, and how it is told.
 */
#include "counter/window.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "common/idle.h"
#include "common/linkage.h"
#include "common/stream.h"
#include "counter/exits.h"
#include "counter/pieces.h"
#include "common/return_stack.h"
#include "counter/set.h"
#include "kernel/passage.h"

struct accesses {
	uint64_t loads, stores, load_bytes, store_bytes, splits, string_bytes, lines, pages;
};
static struct accesses accesses, at_stamp;
bool halfway;
static struct set lines, pages;	/* of data */
static uint64_t last_line;	/* the one accessed last; at first a number that no line has */

static uint64_t unresolved_at_stamp, checks_at_stamp, faults_at_stamp;
static uint64_t halts_at_begin, halts_at_stamp;
static uint64_t idle_at_begin, idle_at_stamp;
static bool idle_unknown_at_stamp;
static uint64_t mispredicted_at_stamp;

/* ---- Counting -------------------------------------------------------------------------------- */

void clear_window(void)
{
	window++;
	touched_count = open_count = 0;
	unresolved = checks = faults = 0;
	broken = entered = repeating = false;
	last_line = UINT64_MAX;
	clear_return_stack();
	memset(&accesses, 0, sizeof(accesses));
	halts_at_begin = halts;
	idle_at_begin = idle_time;
	idle_unknown = false;
}

void stamp(void)
{
	stamps++;
	at_stamp = accesses;
	unresolved_at_stamp = unresolved + open_count;
	checks_at_stamp = checks;
	faults_at_stamp = faults;
	halts_at_stamp = halts;
	idle_at_stamp = idle_time;
	idle_unknown_at_stamp = idle_unknown;
	mispredicted_at_stamp = mispredicted_returns;
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

HOT void count_access(uint64_t address, uint64_t bytes, bool store, uintptr_t string)
{
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

/* ---- The stream ------------------------------------------------------------------------------ */

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
	const struct counts *counts = counts_of(piece);

	tell(piece->block->number);
	tell(piece->executed);
	tell(counts->count);
	tell(counts->on);
	tell(counts->undone);
	tell(counts->entered);
}

void tell_window(void)
{
	const uint64_t numbers[] = {
		at_stamp.loads, at_stamp.stores, at_stamp.load_bytes, at_stamp.store_bytes,
		at_stamp.splits, at_stamp.string_bytes, at_stamp.lines, at_stamp.pages,
		unresolved_at_stamp, checks_at_stamp, faults_at_stamp,
		halts_at_stamp - halts_at_begin, idle_at_stamp - idle_at_begin,
		idle_unknown_at_stamp, mispredicted_at_stamp,
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

void write_window(void)
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
