/*
 * The table of pages.
 */
#include "program/code_pages.h"

#include <stdbool.h>
#include <string.h>

#include "common/stream.h"
#include "kernel/ram.h"
#include "program/cells.h"
#include "program/regions.h"

enum { PAGE_BYTES = 1 << PAGE_BITS, PAGE_PLACES = 2 * MOST_PAGES };
static struct { uint64_t hash; uint32_t number; } pages[PAGE_PLACES];
static uint32_t page_count;

/* FNV-1a, of words of 8 bytes; crates/trace/src/accounts/code_page.rs has the same. */
static uint64_t hash_of(const uint8_t *page)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t at = 0; at < PAGE_BYTES; at += 8) {
		uint64_t word;

		memcpy(&word, page + at, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3u;
		hash ^= hash >> 32;
	}
	return hash;
}

/* The number of the page; 0 if there are too many. */
static uint32_t page_of(const uint8_t *page, uint64_t address)
{
	const uint64_t hash = hash_of(page);
	const uint64_t numbers[] = { hash, address };
	size_t at = hash % PAGE_PLACES;

	for (; pages[at].number; at = (at + 1) % PAGE_PLACES)
		if (pages[at].hash == hash)
			return pages[at].number;
	if (page_count == MOST_PAGES)
		return 0;
	pages[at].hash = hash;
	pages[at].number = ++page_count;
	put_record(CODE_PAGE, numbers, 2);
	return page_count;
}

uint64_t code_place(const struct qemu_plugin_insn *insn)
{
	const uint8_t *host = qemu_plugin_insn_haddr(insn);
	uint64_t physical = host - ram.start, address = qemu_plugin_insn_vaddr(insn);
	uint64_t in_page = address % PAGE_BYTES;
	uint32_t page;

	if (!ram.start || !host || physical >= ram.size || physical % PAGE_BYTES != in_page)
		return USER_CODE;
	page = page_of(ram.start + (physical - in_page), address - in_page);
	return page ? (uint64_t)page << PAGE_BITS | in_page : USER_CODE;
}
