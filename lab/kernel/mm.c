/*
 * Address spaces as a whole: made, forked, switched to, freed; and the changes that programs make
 * to them. Check first, then act: a change that can't be made leaves all as it was.
 *
 * Linux's mm/mmap.c defines what the calls mean; where Linux would change the part of a range that
 * stands before a hole, this refuses.
 */
#include "../x86/x86.h"
#include "mm_private.h"
#include "printk.h"
#include "syscall.h"

#define MMAP_LOWEST 0x10000ul /* as Linux's vm.mmap_min_addr */
#define LOW_FLOOR 0x40000000ul /* MAP_32BIT: the second GiB, so that signed offsets do */
#define LOW_CEILING 0x80000000ul
/* Below a stack of 128 MiB, where Linux begins too unless the stack's limit is larger. */
#define MMAP_TOP (USER_TOP - 0x8000000ul)

struct mm *mm_create(void)
{
	struct mm *mm = kzalloc(sizeof(*mm));

	if (!mm)
		return NULL;
	mm->root = paging_new_root();
	if (!mm->root) {
		kfree(mm);
		return NULL;
	}
	mm->users = 1;
	mm->mmap_top = MMAP_TOP;
	list_init(&mm->areas);
	list_init(&mm->tables);
	return mm;
}

/* Areas, and private pages copy-on-write; shared ones are found at the first touch. */
static i64 copy_areas(struct mm *to, struct mm *from)
{
	struct list *node;

	list_for_each(node, &from->areas) {
		const struct area *area = list_entry(node, struct area, node);
		struct area *copy = area_copy(to, area);

		if (!copy)
			return -ENOMEM;
		list_add_before(&copy->node, &to->areas);
		if (!(area->flags & AREA_SHARED) && pages_share(to, from, area) < 0)
			return -ENOMEM;
	}
	return 0;
}

struct mm *mm_fork(struct mm *from)
{
	struct mm *mm = mm_create();
	i64 result;

	if (!mm)
		return NULL;
	spin_lock(&from->lock);
	mm->brk_start = from->brk_start;
	mm->brk = from->brk;
	mm->mmap_top = from->mmap_top;
	mm->compat = from->compat;
	result = copy_areas(mm, from);
	tlb_flush(from, 0, USER_TOP); /* nobody may write any more to what is shared now */
	spin_unlock(&from->lock);
	if (result == 0)
		return mm;
	mm_put(mm);
	return NULL;
}

void mm_get(struct mm *mm)
{
	__atomic_fetch_add(&mm->users, 1, __ATOMIC_RELAXED);
}

static void unmap_all(struct mm *mm)
{
	while (!list_empty(&mm->areas)) {
		struct area *area = list_entry(mm->areas.next, struct area, node);

		pages_drop(mm, area->start, area->end);
		area_delete(mm, area);
	}
}

void mm_put(struct mm *mm)
{
	/* A CPU that leaves an address space does so before its user is counted off: the last one
	 * frees the tables. */
	if (this_cpu()->active_mm == mm && current->mm != mm)
		mm_activate(current->mm);
	if (__atomic_sub_fetch(&mm->users, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	assert(mm->cpus == 0);
	unmap_all(mm);
	tables_free(mm);
	kfree(mm);
}

void mm_activate(struct mm *mm)
{
	struct percpu *cpu = this_cpu();

	if (cpu->active_mm != mm)
		mm_switch(cpu, mm);
}

static bool fits(u64 address, u64 length, u64 top)
{
	return address >= USER_LOWEST && address <= top && length <= top - address;
}

/* Where a mapping below `top` shall be: an address, or -errno. */
static i64 choose_address(struct mm *mm, u64 address, u64 length, u64 top, u32 map_flags)
{
	u64 gap;

	if (map_flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
		if (address % PAGE_SIZE)
			return -EINVAL;
		if (!fits(address, length, top))
			return -ENOMEM;
		if (map_flags & MAP_FIXED_NOREPLACE && !areas_absent(mm, address, address + length))
			return -EEXIST;
		return address;
	}
	if (map_flags & MAP_32BIT) {
		gap = areas_gap(mm, length, LOW_FLOOR, LOW_CEILING);
		return gap ? (i64)gap : -ENOMEM;
	}
	address = align_down(address, PAGE_SIZE);
	if (address >= MMAP_LOWEST && fits(address, length, top) &&
	    areas_absent(mm, address, address + length))
		return address;
	gap = areas_gap(mm, length, MMAP_LOWEST, min(mm->mmap_top, top));
	if (!gap)
		gap = areas_gap(mm, length, MMAP_LOWEST, top);
	return gap ? (i64)gap : -ENOMEM;
}

static i64 unmap_locked(struct mm *mm, u64 start, u64 end)
{
	struct area *area;

	if (area_split(mm, start) < 0 || area_split(mm, end) < 0)
		return -ENOMEM;
	pages_drop(mm, start, end);
	while ((area = area_find(mm, start)) && area->start < end)
		area_delete(mm, area);
	return 0;
}

static i64 map_locked(struct mm *mm, u64 address, u64 length, u32 area_flags, u32 map_flags)
{
	/* The kernel's own pages may stand above what a 32-bit program can ask for. */
	u64 top = area_flags & AREA_PINNED ? USER_TOP : user_top(mm);
	i64 start = choose_address(mm, address, length, top, map_flags);
	struct area *area;

	if (start < 0)
		return start;
	area = area_create(mm, start, start + length, area_flags);
	if (!area)
		return -ENOMEM;
	if (area_flags & AREA_SHARED)
		area->shared = shared_create(length >> PAGE_SHIFT);
	if ((area_flags & AREA_SHARED && !area->shared) ||
	    unmap_locked(mm, start, start + length) < 0) {
		area_delete(mm, area);
		return -ENOMEM;
	}
	area_insert(mm, area);
	areas_merge(mm, start, start + length);
	return start;
}

i64 mm_map(struct mm *mm, u64 address, u64 length, u32 area_flags, u32 map_flags)
{
	i64 result;

	if (length == 0)
		return -EINVAL;
	if (length > USER_TOP)
		return -ENOMEM;
	spin_lock(&mm->lock);
	result = map_locked(mm, address, align_up(length, PAGE_SIZE), area_flags, map_flags);
	spin_unlock(&mm->lock);
	return result;
}

/* The end of a program's range of whole pages, or 0: it is no such range. */
static u64 range_end(const struct mm *mm, u64 address, u64 length)
{
	u64 top = user_top(mm);

	if (address % PAGE_SIZE || address > top || length > top - address)
		return 0;
	return address + align_up(length, PAGE_SIZE);
}

i64 mm_unmap(struct mm *mm, u64 address, u64 length)
{
	u64 end = range_end(mm, address, length);
	i64 result;

	if (length == 0 || !end)
		return -EINVAL;
	spin_lock(&mm->lock);
	result = unmap_locked(mm, address, end);
	areas_merge(mm, address, end); /* for a split that was in vain */
	spin_unlock(&mm->lock);
	return result;
}

static i64 protect_locked(struct mm *mm, u64 start, u64 end, u32 access)
{
	struct area *area;

	if (!areas_cover(mm, start, end))
		return -ENOMEM;
	for (area = area_find(mm, start); area && area->start < end; area = area_next(mm, area))
		if (area->flags & AREA_PINNED && access & AREA_WRITE)
			return -EACCES;
	if (area_split(mm, start) < 0 || area_split(mm, end) < 0)
		return -ENOMEM;
	for (area = area_find(mm, start); area && area->start < end; area = area_next(mm, area)) {
		area->flags = (area->flags & ~AREA_ACCESS) | access;
		pages_protect(mm, area->start, area->end, area->flags);
	}
	return 0;
}

i64 mm_protect(struct mm *mm, u64 address, u64 length, u32 area_flags)
{
	u64 end = range_end(mm, address, length);
	i64 result;

	if (address % PAGE_SIZE)
		return -EINVAL;
	if (!end)
		return -ENOMEM;
	spin_lock(&mm->lock);
	result = protect_locked(mm, address, end, area_flags & AREA_ACCESS);
	areas_merge(mm, address, end);
	spin_unlock(&mm->lock);
	return result;
}

i64 mm_map_pinned(struct mm *mm, u64 address, u64 phys, u64 pages, u32 area_flags)
{
	u32 flags = (area_flags | AREA_PINNED) & ~AREA_WRITE;
	i64 start = mm_map(mm, address, pages << PAGE_SHIFT, flags, address ? MAP_FIXED : 0);

	if (start < 0)
		return start;
	spin_lock(&mm->lock);
	for (u64 i = 0; i < pages; i++) {
		u64 *pte = pte_make(mm, start + (i << PAGE_SHIFT));

		if (!pte) {
			unmap_locked(mm, start, start + (pages << PAGE_SHIFT));
			start = -ENOMEM;
			break;
		}
		*pte = pte_value(phys + (i << PAGE_SHIFT), flags, false);
	}
	spin_unlock(&mm->lock);
	return start;
}

static bool brk_locked(struct mm *mm, u64 brk)
{
	u64 old = align_up(mm->brk, PAGE_SIZE), new = align_up(brk, PAGE_SIZE);

	if (brk < mm->brk_start || brk > user_top(mm))
		return false;
	if (new < old)
		return unmap_locked(mm, new, old) == 0;
	if (new == old)
		return true;
	return map_locked(mm, old, new - old, AREA_READ | AREA_WRITE, MAP_FIXED_NOREPLACE) >= 0;
}

u64 mm_brk(struct mm *mm, u64 brk)
{
	spin_lock(&mm->lock);
	if (brk_locked(mm, brk))
		mm->brk = brk;
	brk = mm->brk;
	spin_unlock(&mm->lock);
	return brk;
}

static i64 discard_locked(struct mm *mm, u64 start, u64 end)
{
	struct area *area;

	if (!areas_cover(mm, start, end))
		return -ENOMEM;
	for (area = area_find(mm, start); area && area->start < end; area = area_next(mm, area))
		if (!(area->flags & (AREA_SHARED | AREA_PINNED)))
			pages_drop(mm, max(start, area->start), min(end, area->end));
	return 0;
}

i64 mm_discard(struct mm *mm, u64 address, u64 length)
{
	u64 end = range_end(mm, address, length);
	i64 result;

	if (!end)
		return -EINVAL;
	spin_lock(&mm->lock);
	result = discard_locked(mm, address, end);
	spin_unlock(&mm->lock);
	return result;
}
