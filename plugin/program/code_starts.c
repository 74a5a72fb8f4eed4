/*
 * The two lists of starts.
 */
#include "program/code_starts.h"

#include <stddef.h>
#include <stdlib.h>

struct list {
	void *items;
	size_t count, room;
};
static struct list kernel_starts;	/* addresses */
static struct list pages_with_starts;	/* struct page_starts */
static struct list places_in_pages;	/* uint16_t */

/* Room for one more item of so many bytes; NULL without memory. */
static void *one_more(struct list *list, size_t bytes)
{
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 1024;
		void *items = realloc(list->items, room * bytes);

		if (!items)
			return NULL;
		list->items = items;
		list->room = room;
	}
	return (char *)list->items + list->count++ * bytes;
}

bool read_kernel_start(FILE *file)
{
	unsigned long long address;
	uint64_t *start;

	if (fscanf(file, "%llx", &address) != 1)
		return false;
	start = one_more(&kernel_starts, sizeof(*start));
	if (start)
		*start = address;
	return start;
}

bool read_page_starts(FILE *file)
{
	unsigned long long hash;
	unsigned int count, place;
	struct page_starts *page;

	if (fscanf(file, "%llx %x", &hash, &count) != 2 || count > 4096)
		return false;
	page = one_more(&pages_with_starts, sizeof(*page));
	if (!page)
		return false;
	*page = (struct page_starts){
		.hash = hash, .first = (uint32_t)places_in_pages.count, .count = count,
	};
	while (count--) {
		uint16_t *start;

		if (fscanf(file, "%x", &place) != 1 || place > 4095)
			return false;
		start = one_more(&places_in_pages, sizeof(*start));
		if (!start)
			return false;
		*start = (uint16_t)place;
	}
	return true;
}

uint64_t kernel_start(uint64_t address)
{
	const uint64_t *starts = kernel_starts.items;
	size_t low = 0, high = kernel_starts.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (starts[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? starts[low - 1] : address;
}

const struct page_starts *starts_of_page(uint64_t hash)
{
	const struct page_starts *pages = pages_with_starts.items;
	size_t low = 0, high = pages_with_starts.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (pages[middle].hash == hash)
			return &pages[middle];
		if (pages[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

uint32_t start_in_page(const struct page_starts *starts, uint32_t place)
{
	const uint16_t *places = places_in_pages.items;
	uint32_t found = 0;

	for (uint32_t i = 0; i < starts->count && places[starts->first + i] <= place; i++)
		found = places[starts->first + i];
	return found;
}
