/* What the files of address spaces share: mm.c, mm_areas.c, mm_tables.c, mm_shared.c, mm_fault.c.
 * All of it with mm->lock held, but for a fresh address space that nobody else knows. */
#ifndef LAB_MM_PRIVATE_H
#define LAB_MM_PRIVATE_H

#include "mm.h"
#include "page.h"

#define AREA_ACCESS (AREA_READ | AREA_WRITE | AREA_EXEC)
/* Nothing is placed this close below a stack, and none grows this close to what lies below. */
#define STACK_GUARD (256 * PAGE_SIZE)

/* Page table entries: Intel SDM volume 3, 4.5 (4-level paging). */
#define PTE_PRESENT 0x001ul
#define PTE_WRITE 0x002ul
#define PTE_USER 0x004ul
#define PTE_ACCESSED 0x020ul
#define PTE_DIRTY 0x040ul
#define PTE_PINNED 0x200ul /* ours: the page is the kernel's, its references aren't counted */
#define PTE_ADDRESS 0x000ffffffffff000ul
#define PTE_NX 0x8000000000000000ul

/* A 32-bit program's stack ends at USER_TOP_32; above is the page of its system calls. */
static inline u64 user_top(const struct mm *mm)
{
	return mm->compat ? USER_TOP_32 + PAGE_SIZE : USER_TOP;
}

/* mm_areas.c: the sorted list. */
/* The first area that ends past `address`; NULL: there is none. */
struct area *area_find(struct mm *mm, u64 address);
struct area *area_next(struct mm *mm, struct area *area);
struct area *area_previous(struct mm *mm, struct area *area);
/* An area that is in no list yet; NULL without memory or if there are too many. */
struct area *area_create(struct mm *mm, u64 start, u64 end, u32 flags);
struct area *area_copy(struct mm *mm, const struct area *from);
void area_insert(struct mm *mm, struct area *area);
/* Takes it out of its list, if it is in one, and frees it. */
void area_delete(struct mm *mm, struct area *area);
/* Makes an area end at `address`, if one straddles it; 0 or -ENOMEM. */
i64 area_split(struct mm *mm, u64 address);
/* Joins those neighbours between the area before `start` and the one after `end` that fit. */
void areas_merge(struct mm *mm, u64 start, u64 end);
/* Whether areas cover the whole range, and whether none touches it. */
bool areas_cover(struct mm *mm, u64 start, u64 end);
bool areas_absent(struct mm *mm, u64 start, u64 end);
/* The highest free range of that length within [floor, ceiling); 0: there is none. */
u64 areas_gap(struct mm *mm, u64 length, u64 floor, u64 ceiling);

/* mm_tables.c: what is there now. */
/* The entry of `address`, or NULL if it has no table; *next is where the next table begins. */
u64 *pte_find(const struct mm *mm, u64 address, u64 *next);
/* The same, tables made as needed; NULL: no memory. */
u64 *pte_make(struct mm *mm, u64 address);
/* Entry for a page of an area with these flags. Writable only if the caller asks for it. */
u64 pte_value(u64 phys, u32 area_flags, bool write);
/* Takes the pages out of [start, end), from all TLBs, then lets go of them. */
void pages_drop(struct mm *mm, u64 start, u64 end);
/* Brings what is in [start, end) in line with an area's new flags, in all TLBs. */
void pages_protect(struct mm *mm, u64 start, u64 end, u32 area_flags);
/* Copy-on-write copies of the area's entries; flushing the old one's TLBs is left to the caller.
 * 0 or -ENOMEM. */
i64 pages_share(struct mm *to, struct mm *from, const struct area *area);
/* Frees the tables of the user half and the top one, all empty. */
void tables_free(struct mm *mm);

/* mm_shared.c: the pages of shared memory, which several areas of several address spaces show. */
struct shared_pages *shared_create(u64 pages); /* NULL: no memory, or too large */
void shared_get(struct shared_pages *shared);
void shared_put(struct shared_pages *shared);
/* The page's physical address, a zeroed one the first time; 0 without memory. With a reference. */
u64 shared_page(struct shared_pages *shared, u64 index);

#endif
