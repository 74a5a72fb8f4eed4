/*
 * Page tables of the user half: four levels, pages of 4 KiB only (Intel SDM volume 3, 4.5).
 *
 * An entry is one of three: zero, nothing there; present; or not present with an address, a page
 * that is kept while nobody may touch it (PROT_NONE), or that is on its way out.
 *
 * A private page is writable only where its entry is the only reference to it: that is what makes
 * copy-on-write right. Accessed and dirty bits mean nothing here, so an update may race with a CPU
 * that sets them.
 */
#include "../x86/x86.h"
#include "mm_private.h"
#include "syscall.h"

#define TOP_SHIFT 39   /* of the address bits that index the top table */
#define LEVEL_BITS 9
#define ENTRIES 512

typedef void (*pte_visitor)(u64 *pte, u32 area_flags);

static u64 *table_at(u64 entry)
{
	return phys_to_virt(entry & PTE_ADDRESS);
}

u64 *pte_find(const struct mm *mm, u64 address, u64 *next)
{
	u64 *table = table_at(mm->root);

	for (unsigned shift = TOP_SHIFT; shift > PAGE_SHIFT; shift -= LEVEL_BITS) {
		u64 entry = table[(address >> shift) % ENTRIES];

		*next = align_down(address, 1ul << shift) + (1ul << shift);
		if (!entry)
			return NULL;
		table = table_at(entry);
	}
	return &table[(address >> PAGE_SHIFT) % ENTRIES];
}

/* Hangs an empty table below `entry`; false without memory. Rare, so kept out of its caller. */
static __attribute__((noinline)) bool table_add(struct mm *mm, u64 *entry)
{
	void *table = page_alloc_zeroed(0);
	u64 phys;

	if (!table)
		return false;
	phys = virt_to_phys(table);
	list_add_head(&page_of(phys)->node, &mm->tables);
	WRITE_ONCE(*entry, phys | PTE_PRESENT | PTE_WRITE | PTE_USER);
	return true;
}

u64 *pte_make(struct mm *mm, u64 address)
{
	u64 *table = table_at(mm->root);

	for (unsigned shift = TOP_SHIFT; shift > PAGE_SHIFT; shift -= LEVEL_BITS) {
		u64 *entry = &table[(address >> shift) % ENTRIES];

		if (unlikely(!*entry) && !table_add(mm, entry))
			return NULL;
		table = table_at(*entry);
	}
	return &table[(address >> PAGE_SHIFT) % ENTRIES];
}

u64 pte_value(u64 phys, u32 area_flags, bool write)
{
	u64 pte = phys | PTE_ACCESSED;

	if (area_flags & AREA_ACCESS)
		pte |= PTE_PRESENT | PTE_USER;
	if (area_flags & AREA_PINNED)
		pte |= PTE_PINNED;
	if (write && area_flags & AREA_WRITE)
		pte |= PTE_WRITE | PTE_DIRTY;
	return area_flags & AREA_EXEC ? pte : pte | PTE_NX;
}

/* Calls `visit` for each entry of [start, end) that is not zero; whether there was one. */
static bool visit_pages(struct mm *mm, u64 start, u64 end, pte_visitor visit, u32 area_flags)
{
	bool any = false;
	u64 next;

	for (u64 at = start; at < end; at = next) {
		u64 *pte = pte_find(mm, at, &next);

		next = min(next, end);
		for (; pte && at < next; at += PAGE_SIZE, pte++) {
			if (!*pte)
				continue;
			visit(pte, area_flags);
			any = true;
		}
	}
	return any;
}

static void hide(u64 *pte, u32 area_flags)
{
	WRITE_ONCE(*pte, *pte & ~PTE_PRESENT);
}

static void release(u64 *pte, u32 area_flags)
{
	if (!(*pte & PTE_PINNED))
		page_put(*pte & PTE_ADDRESS);
	*pte = 0;
}

/* Hidden first and released after the flush: in between, no CPU can reach a page that is still
 * there, so none is ever reached when it belongs to someone else. */
void pages_drop(struct mm *mm, u64 start, u64 end)
{
	if (!visit_pages(mm, start, end, hide, 0))
		return;
	tlb_flush(mm, start, end);
	visit_pages(mm, start, end, release, 0);
}

/* Writing to private pages is left to the fault, which knows whether a copy is due. */
static void protect(u64 *pte, u32 area_flags)
{
	bool write = area_flags & AREA_SHARED || *pte & PTE_WRITE;

	WRITE_ONCE(*pte, pte_value(*pte & PTE_ADDRESS, area_flags, write));
}

void pages_protect(struct mm *mm, u64 start, u64 end, u32 area_flags)
{
	if (visit_pages(mm, start, end, protect, area_flags))
		tlb_flush(mm, start, end);
}

static void share(u64 *to, u64 *from)
{
	if (!*from)
		return;
	if (!(*from & PTE_PINNED)) {
		WRITE_ONCE(*from, *from & ~PTE_WRITE);
		page_get(*from & PTE_ADDRESS);
	}
	*to = *from;
}

i64 pages_share(struct mm *to, struct mm *from, const struct area *area)
{
	u64 next;

	for (u64 at = area->start; at < area->end; at = next) {
		u64 *source = pte_find(from, at, &next), *target;

		if (!source)
			continue;
		target = pte_make(to, at);
		if (!target)
			return -ENOMEM;
		next = min(next, area->end);
		for (; at < next; at += PAGE_SIZE)
			share(target++, source++);
	}
	return 0;
}

void tables_free(struct mm *mm)
{
	while (!list_empty(&mm->tables)) {
		struct page *page = list_entry(mm->tables.next, struct page, node);

		list_del(&page->node);
		page_free(phys_to_virt(page_phys(page)), 0);
	}
	page_free(table_at(mm->root), 0);
}
