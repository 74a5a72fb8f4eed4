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
/* A packed file's page is told by what is in it: the rest is 0. A page of no packed file, as one
 * that a JIT writes and rewrites, by where it is: its hash is 0. */
struct identity { uint64_t hash, address, process; };
struct code_page {
	struct identity identity;
	uint32_t number;	/* 0 if the place is free */
	const struct page_starts *starts;
};
static struct code_page pages[PAGE_PLACES];
static uint32_t page_count;

/* FNV-1a, of words of 8 bytes; crates/trace/src/accounts/call_tree.rs has the same. */
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

static bool is_same_page(const struct identity *one, const struct identity *other)
{
	return one->hash == other->hash && one->address == other->address &&
	       one->process == other->process;
}

/* The page; NULL if there are too many. */
static const struct code_page *page_of(const uint8_t *page, uint64_t address, uint32_t process)
{
	const uint64_t hash = hash_of(page);
	const struct page_starts *starts = starts_of_page(hash);
	const struct identity identity = {
		starts ? hash : 0, starts ? 0 : address, starts ? 0 : process,
	};
	uint64_t key = identity.hash ^ (identity.address >> PAGE_BITS) * 0x9e3779b97f4a7c15u;
	size_t at = (key ^ identity.process << 1) % PAGE_PLACES;

	for (; pages[at].number; at = (at + 1) % PAGE_PLACES)
		if (is_same_page(&pages[at].identity, &identity))
			return &pages[at];
	if (page_count == MOST_PAGES)
		return NULL;
	pages[at] = (struct code_page){ identity, ++page_count, starts };
	put_record(CODE_PAGE, (const uint64_t *)&identity, 3);
	return &pages[at];
}

/* The place and the function in one number: of the place 48 bits, which its sign completes, and
 * how far before it the function begins, or, if that is further, 65,535. */
static uint64_t packed(uint64_t place, uint64_t start)
{
	uint64_t before = place - start;

	return (before < 0xffff ? before : 0xffff) << 48 | (place & 0xffffffffffffu);
}

uint64_t code_block(const struct qemu_plugin_insn *insn, uint32_t process)
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
	page = page_of(ram.start + (physical - in_page), address - in_page, process);
	if (!page)
		return USER_CODE;
	begin = (uint64_t)page->number << PAGE_BITS;
	/* Only a JIT knows where functions begin in its code: each block is told by itself. */
	start = page->starts ? start_in_page(page->starts, in_page) : in_page;
	return packed(begin | in_page, begin | start);
}
