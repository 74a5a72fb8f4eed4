/*
 * Memory that processes share over fork (MAP_SHARED and MAP_ANONYMOUS): its pages belong to an
 * object of their own, so that all processes find the same page, no matter which touches it first.
 * Pages come at the first touch here too, and go with the last area that shows any part of the
 * object.
 */
#include "mm_private.h"

/* What fits the largest block that page_alloc() gives: 1 GiB. */
#define MAX_SHARED_PAGES ((PAGE_SIZE << MAX_ORDER) / sizeof(u64))

struct shared_pages {
	struct spinlock lock; /* inside mm->lock */
	u32 references;       /* areas */
	u64 count;
	u64 *page;            /* physical addresses, 0: not there yet */
};

struct shared_pages *shared_create(u64 pages)
{
	struct shared_pages *shared;

	if (pages > MAX_SHARED_PAGES)
		return NULL;
	shared = kzalloc(sizeof(*shared));
	if (!shared)
		return NULL;
	shared->page = kzalloc(pages * sizeof(u64));
	if (!shared->page) {
		kfree(shared);
		return NULL;
	}
	shared->references = 1;
	shared->count = pages;
	return shared;
}

void shared_get(struct shared_pages *shared)
{
	__atomic_fetch_add(&shared->references, 1, __ATOMIC_RELAXED);
}

void shared_put(struct shared_pages *shared)
{
	if (__atomic_sub_fetch(&shared->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	for (u64 i = 0; i < shared->count; i++)
		if (shared->page[i])
			page_put(shared->page[i]);
	kfree(shared->page);
	kfree(shared);
}

u64 shared_page(struct shared_pages *shared, u64 index)
{
	u64 phys;

	spin_lock(&shared->lock);
	phys = shared->page[index];
	if (!phys) {
		void *page = page_alloc_zeroed(0);

		phys = page ? virt_to_phys(page) : 0;
		shared->page[index] = phys;
	}
	if (phys)
		page_get(phys);
	spin_unlock(&shared->lock);
	return phys;
}
