/*
 * The table of pages.
 */
#include "program/code_pages.h"

#include <stdbool.h>
#include <string.h>

#include "arch/arch.h"
#include "common/stream.h"
#include "kernel/ram.h"
#include "program/cells.h"
#include "program/code_starts.h"
#include "program/regions.h"

enum { PAGE_BYTES = 1 << PAGE_BITS, PAGE_PLACES = 2 * MOST_PAGES };
struct code_page { uint64_t hash; uint32_t number; const struct page_starts *starts; };
static struct code_page pages[PAGE_PLACES];
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

/* The page; NULL if there are too many. */
static const struct code_page *page_of(const uint8_t *page, uint64_t address)
{
	const uint64_t hash = hash_of(page);
	const uint64_t numbers[] = { hash, address };
	size_t at = hash % PAGE_PLACES;

	for (; pages[at].number; at = (at + 1) % PAGE_PLACES)
		if (pages[at].hash == hash)
			return &pages[at];
	if (page_count == MOST_PAGES)
		return NULL;
	pages[at].hash = hash;
	pages[at].number = ++page_count;
	pages[at].starts = starts_of_page(hash);
	put_record(CODE_PAGE, numbers, 2);
	return &pages[at];
}

/* The place and the function in one number: of the place 48 bits, which its sign completes, and
 * how far before it the function begins, or, if that is further, 65,535. */
static uint64_t packed(uint64_t place, uint64_t start)
{
	uint64_t before = place - start;

	return (before < 0xffff ? before : 0xffff) << 48 | (place & 0xffffffffffffu);
}

uint64_t code_block(const struct qemu_plugin_insn *insn)
{
	const uint8_t *host = qemu_plugin_insn_haddr(insn);
	uint64_t physical = host - ram.start, address = qemu_plugin_insn_vaddr(insn);
	uint32_t in_page = address % PAGE_BYTES, start;
	const struct code_page *page;
	uint64_t begin;

	if (is_kernel(address))
		return packed(address, kernel_start(address));
	if (!ram.start || !host || physical >= ram.size || physical % PAGE_BYTES != in_page)
		return USER_CODE;
	page = page_of(ram.start + (physical - in_page), address - in_page);
	if (!page)
		return USER_CODE;
	begin = (uint64_t)page->number << PAGE_BITS;
	start = page->starts ? start_in_page(page->starts, in_page) : 0;
	return packed(begin | in_page, begin | start);
}
