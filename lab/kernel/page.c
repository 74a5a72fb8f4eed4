/*
 * Physical memory: a binary buddy allocator (Knuth, TAOCP volume 1, 2.5, "buddy system").
 *
 * A free block of order n has 2^n pages and begins at a multiple of its size; its buddy is the
 * block with which it makes up one of order n + 1. Blocks are split as needed, and joined with
 * their buddy as soon as both are free. Each usable range begins with what is kept about its own
 * pages, so no bound on memory is built in, and a buddy outside the range is simply never free.
 *
 * One lock guards all lists; it is taken with interrupts off, since interrupts may allocate.
 */
#include "page.h"

#include "lock.h"
#include "printk.h"

#define MAX_RANGES 16

struct range {
	u64 from, size; /* bytes; `from` is page-aligned */
	struct page *pages;
};

static struct range ranges[MAX_RANGES];
static unsigned range_count;

static struct spinlock lock;
static struct list free_blocks[MAX_ORDER + 1];
static u64 free_pages, all_pages;

static u64 block_size(unsigned order) { return PAGE_SIZE << order; }

static struct range *range_of(u64 phys)
{
	for (unsigned i = 0; i < range_count; i++)
		if (phys - ranges[i].from < ranges[i].size)
			return &ranges[i];
	return NULL;
}

struct page *page_of(u64 phys)
{
	struct range *range = range_of(phys);

	if (unlikely(!range))
		panic("page_of(%lx): not usable memory", phys);
	return &range->pages[(phys - range->from) >> PAGE_SHIFT];
}

u64 page_phys(const struct page *page)
{
	for (unsigned i = 0; i < range_count; i++) {
		u64 index = page - ranges[i].pages;

		if (page >= ranges[i].pages && index < ranges[i].size >> PAGE_SHIFT)
			return ranges[i].from + (index << PAGE_SHIFT);
	}
	panic("page_phys(%p): no page", (const void *)page);
}

static void block_insert(struct page *page, unsigned order)
{
	page->use = PAGE_FREE;
	page->order = order;
	list_add_head(&page->node, &free_blocks[order]);
}

static void block_remove(struct page *page)
{
	page->use = PAGE_INSIDE;
	list_del(&page->node);
}

/* The largest block that may begin at `from` and ends by `to`. */
static unsigned largest_order(u64 from, u64 to)
{
	unsigned order = MAX_ORDER;

	while (from & (block_size(order) - 1) || block_size(order) > to - from)
		order--;
	return order;
}

void page_add_range(u64 from, u64 to)
{
	u64 pages = (to - from) >> PAGE_SHIFT;
	u64 own = align_up(pages * sizeof(struct page), PAGE_SIZE);

	if (from >= to || own + PAGE_SIZE > to - from)
		return; /* too small to be of use */
	assert(!((from | to) & ~PAGE_MASK) && range_count < MAX_RANGES);
	if (range_count == 0)
		for (unsigned order = 0; order <= MAX_ORDER; order++)
			list_init(&free_blocks[order]);
	ranges[range_count] = (struct range){ from, to - from, phys_to_virt(from) };
	memset(ranges[range_count++].pages, 0, own);
	free_pages += (to - from - own) >> PAGE_SHIFT;
	all_pages += (to - from - own) >> PAGE_SHIFT;
	for (u64 at = from + own; at < to;) {
		unsigned order = largest_order(at, to);

		block_insert(page_of(at), order);
		at += block_size(order);
	}
}

/* A block of `order`, split off a larger one if need be; NULL: there is none. */
static struct page *block_take(unsigned order)
{
	unsigned from = order;
	struct page *page;

	while (list_empty(&free_blocks[from]))
		if (++from > MAX_ORDER)
			return NULL;
	page = list_entry(free_blocks[from].next, struct page, node);
	block_remove(page);
	while (from-- > order)
		block_insert(page + (1ul << from), from);
	return page;
}

void *page_alloc(unsigned order)
{
	struct page *page;
	u64 flags;

	if (unlikely(order > MAX_ORDER))
		return NULL;
	flags = spin_lock_irqsave(&lock);
	page = block_take(order);
	if (likely(page)) {
		page->use = PAGE_BLOCK;
		page->order = order;
		page->references = 1;
		free_pages -= 1ul << order;
	}
	spin_unlock_irqrestore(&lock, flags);
	return likely(page) ? phys_to_virt(page_phys(page)) : NULL;
}

void *page_alloc_zeroed(unsigned order)
{
	void *block = page_alloc(order);
	u64 words = block_size(order) / 8;
	void *at = block;

	if (likely(block))
		__asm__ volatile("rep stosq" : "+D"(at), "+c"(words) : "a"(0) : "memory");
	return block;
}

/* The free block with which the one at `phys` makes up a block of the next order, or NULL. */
static struct page *free_buddy(const struct range *range, u64 phys, unsigned order)
{
	u64 offset = (phys ^ block_size(order)) - range->from;
	struct page *buddy;

	if (order == MAX_ORDER || offset >= range->size)
		return NULL;
	buddy = &range->pages[offset >> PAGE_SHIFT];
	return buddy->use == PAGE_FREE && buddy->order == order ? buddy : NULL;
}

void page_free(void *block, unsigned order)
{
	u64 phys = virt_to_phys(block), flags;
	struct page *page = page_of(phys), *buddy;
	const struct range *range = range_of(phys);

	assert(page->use == PAGE_BLOCK && page->order == order);
	flags = spin_lock_irqsave(&lock);
	free_pages += 1ul << order;
	page->use = PAGE_INSIDE;
	while ((buddy = free_buddy(range, phys, order))) {
		block_remove(buddy);
		phys &= ~block_size(order++);
	}
	block_insert(&range->pages[(phys - range->from) >> PAGE_SHIFT], order);
	spin_unlock_irqrestore(&lock, flags);
}

u64 page_total_count(void)
{
	return all_pages;
}

u64 page_free_count(void)
{
	return READ_ONCE(free_pages) + kmalloc_spare_pages();
}

void page_get(u64 phys)
{
	__atomic_fetch_add(&page_of(phys)->references, 1, __ATOMIC_RELAXED);
}

void page_put(u64 phys)
{
	if (__atomic_sub_fetch(&page_of(phys)->references, 1, __ATOMIC_ACQ_REL) == 0)
		page_free(phys_to_virt(phys), 0);
}

u32 page_refs(u64 phys)
{
	return __atomic_load_n(&page_of(phys)->references, __ATOMIC_ACQUIRE);
}
