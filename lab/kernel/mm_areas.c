/*
 * The areas of an address space: a list by address, without overlaps. Finding one takes time that
 * grows with their number, so that is bounded, and neighbours that are alike are joined.
 */
#include "mm_private.h"
#include "syscall.h"

#define MAX_AREAS 1024 /* Linux has vm.max_map_count, 65530 */

struct area *area_find(struct mm *mm, u64 address)
{
	struct list *node;

	list_for_each(node, &mm->areas) {
		struct area *area = list_entry(node, struct area, node);

		if (address < area->end)
			return area;
	}
	return NULL;
}

struct area *area_next(struct mm *mm, struct area *area)
{
	struct list *node = area->node.next;

	return node == &mm->areas ? NULL : list_entry(node, struct area, node);
}

struct area *area_previous(struct mm *mm, struct area *area)
{
	struct list *node = area ? area->node.prev : mm->areas.prev;

	return node == &mm->areas ? NULL : list_entry(node, struct area, node);
}

struct area *area_create(struct mm *mm, u64 start, u64 end, u32 flags)
{
	struct area *area = mm->area_count < MAX_AREAS ? kzalloc(sizeof(*area)) : NULL;

	if (!area)
		return NULL;
	list_init(&area->node);
	area->start = start;
	area->end = end;
	area->flags = flags;
	mm->area_count++;
	return area;
}

struct area *area_copy(struct mm *mm, const struct area *from)
{
	struct area *area = area_create(mm, from->start, from->end, from->flags);

	if (area && from->shared) {
		area->shared = from->shared;
		area->shared_first = from->shared_first;
		shared_get(area->shared);
	}
	return area;
}

void area_insert(struct mm *mm, struct area *area)
{
	struct area *after = area_find(mm, area->start);

	list_add_before(&area->node, after ? &after->node : &mm->areas);
}

void area_delete(struct mm *mm, struct area *area)
{
	list_del(&area->node);
	if (area->shared)
		shared_put(area->shared);
	kfree(area);
	mm->area_count--;
}

i64 area_split(struct mm *mm, u64 address)
{
	struct area *area = area_find(mm, address), *rest;

	if (!area || area->start >= address)
		return 0;
	rest = area_copy(mm, area);
	if (!rest)
		return -ENOMEM;
	rest->start = address;
	rest->shared_first += (address - area->start) >> PAGE_SHIFT;
	area->end = address;
	list_add_head(&rest->node, &area->node);
	return 0;
}

static bool alike(const struct area *area, const struct area *next)
{
	return area->end == next->start && area->flags == next->flags &&
	       area->shared == next->shared &&
	       (!area->shared || next->shared_first - area->shared_first ==
					 (area->end - area->start) >> PAGE_SHIFT);
}

void areas_merge(struct mm *mm, u64 start, u64 end)
{
	struct area *area = area_find(mm, start ? start - 1 : 0), *next;

	while (area && area->start <= end && (next = area_next(mm, area))) {
		if (alike(area, next)) {
			area->end = next->end;
			area_delete(mm, next);
		} else {
			area = next;
		}
	}
}

bool areas_cover(struct mm *mm, u64 start, u64 end)
{
	struct area *area = area_find(mm, start);

	while (start < end && area && area->start <= start) {
		start = area->end;
		area = area_next(mm, area);
	}
	return start >= end;
}

bool areas_absent(struct mm *mm, u64 start, u64 end)
{
	struct area *area = area_find(mm, start);

	return !area || area->start >= end;
}

/* Where what lies below `area` has to end. */
static u64 lowest_use(const struct area *area)
{
	u64 guard = area->flags & AREA_GROWSDOWN ? STACK_GUARD : 0;

	return area->start > guard ? area->start - guard : 0;
}

u64 areas_gap(struct mm *mm, u64 length, u64 floor, u64 ceiling)
{
	u64 top = ceiling;
	struct area *area = NULL;

	while ((area = area_previous(mm, area)) && top > floor) {
		if (area->end <= top && top - area->end >= length)
			break;
		top = min(top, lowest_use(area));
	}
	return top > floor && top - floor >= length ? top - length : 0;
}
