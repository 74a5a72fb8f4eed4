/*
 * Page faults: the first touch of a page, the first write to one that fork shared, a stack that
 * grows; and writing to an address space from outside.
 */
#include "../x86/x86.h"
#include "mm_private.h"
#include "syscall.h"

/* Error code of a page fault: Intel SDM volume 3, 4.7. */
#define FAULT_WRITE 0x02u
#define FAULT_FETCH 0x10u

/* Puts a page where none is; false without memory. */
static bool fill(const struct area *area, u64 *pte, u64 address)
{
	u64 phys = 0;

	if (area->flags & AREA_PINNED)
		return false;
	if (area->flags & AREA_SHARED) {
		u64 index = area->shared_first + ((address - area->start) >> PAGE_SHIFT);

		phys = shared_page(area->shared, index);
	} else {
		void *page = page_alloc_zeroed(0);

		phys = page ? virt_to_phys(page) : 0;
	}
	if (unlikely(!phys))
		return false;
	WRITE_ONCE(*pte, pte_value(phys, area->flags, true));
	return true;
}

/* Gives the program a private page of its own to write to; false without memory. */
static bool take_or_copy(struct mm *mm, const struct area *area, u64 *pte, u64 address)
{
	u64 old = *pte & PTE_ADDRESS;
	void *copy;

	/* Once ours alone it stays so: only a fork of this address space could share it. */
	if (page_refs(old) == 1) {
		WRITE_ONCE(*pte, pte_value(old, area->flags, true));
		return true;
	}
	copy = page_alloc(0);
	if (!copy)
		return false;
	memcpy(copy, phys_to_virt(old), PAGE_SIZE);
	WRITE_ONCE(*pte, pte_value(virt_to_phys(copy), area->flags, true));
	tlb_flush(mm, address, address + PAGE_SIZE); /* other threads may still read the old one */
	page_put(old);
	return true;
}

/* Makes the page usable as the area allows it; false without memory. */
static bool page_in(struct mm *mm, const struct area *area, u64 address, bool write)
{
	u64 *pte = pte_make(mm, address);

	if (unlikely(!pte))
		return false;
	if (!*pte)
		return fill(area, pte, address);
	/* Another thread may have been here first: then there is nothing left to do. */
	return !write || *pte & PTE_WRITE || take_or_copy(mm, area, pte, address);
}

/* Whether the stack `area` may grow down to `address`; it has grown then. */
static bool grow(struct mm *mm, struct area *area, u64 address)
{
	u64 start = align_down(address, PAGE_SIZE);
	struct area *below = area_previous(mm, area);

	if (!(area->flags & AREA_GROWSDOWN) || start < USER_LOWEST)
		return false;
	if (area->end - start > current->group->stack_limit)
		return false;
	if (below && start - below->end < STACK_GUARD)
		return false;
	area->start = start;
	return true;
}

static bool allowed(u32 area_flags, u32 error)
{
	if (error & FAULT_FETCH)
		return area_flags & AREA_EXEC;
	if (error & FAULT_WRITE)
		return area_flags & AREA_WRITE;
	return area_flags & AREA_ACCESS; /* x86 can't withhold reading alone */
}

static int fault_locked(struct mm *mm, u64 address, u32 error, int *code)
{
	struct area *area = area_find(mm, address);

	*code = SEGV_MAPERR;
	if (!area || (address < area->start && !grow(mm, area, address)))
		return SIGSEGV;
	*code = SEGV_ACCERR;
	if (!allowed(area->flags, error))
		return SIGSEGV;
	return page_in(mm, area, align_down(address, PAGE_SIZE), error & FAULT_WRITE) ? 0 : SIGKILL;
}

int mm_fault(struct mm *mm, u64 address, u32 error, int *code)
{
	int signal;

	spin_lock(&mm->lock);
	signal = fault_locked(mm, address, error, code);
	spin_unlock(&mm->lock);
	return signal;
}

/* The page at `address` in the direct map, filled if it was not there; NULL and *error. */
static void *page_for_writing(struct mm *mm, u64 address, int *error)
{
	struct area *area = area_find(mm, address);
	u64 page = align_down(address, PAGE_SIZE), next;

	*error = -EFAULT;
	if (!area || address < area->start)
		return NULL;
	*error = -ENOMEM;
	if (!page_in(mm, area, page, false))
		return NULL;
	return phys_to_virt(*pte_find(mm, page, &next) & PTE_ADDRESS);
}

int mm_write(struct mm *mm, u64 address, const void *from, u64 length)
{
	int error = 0;

	spin_lock(&mm->lock);
	while (length > 0) {
		u64 offset = address % PAGE_SIZE, count = min(length, PAGE_SIZE - offset);
		char *page = page_for_writing(mm, address, &error);

		if (!page)
			break;
		memcpy(page + offset, from, count);
		address += count;
		from = (const char *)from + count;
		length -= count;
	}
	spin_unlock(&mm->lock);
	return length > 0 ? error : 0;
}

u64 mm_shared_phys(struct mm *mm, u64 address)
{
	u64 next, phys = 0, *pte;
	struct area *area;

	if (address >= USER_TOP)
		return 0;
	spin_lock(&mm->lock);
	area = area_find(mm, address);
	pte = pte_find(mm, address, &next);
	if (area && address >= area->start && area->flags & AREA_SHARED && pte &&
	    *pte & PTE_PRESENT)
		phys = (*pte & PTE_ADDRESS) + address % PAGE_SIZE;
	spin_unlock(&mm->lock);
	return phys;
}
