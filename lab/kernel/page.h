/*
 * Physical pages: a buddy allocator, reference counts, and small objects of fixed size classes.
 *
 * All memory is mapped at PHYS_BASE. Counts let two address spaces share a page until one writes.
 */
#ifndef LAB_PAGE_H
#define LAB_PAGE_H

#include "list.h"
#include "types.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE 4096ul
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define MAX_ORDER 9 /* largest block: 2 MiB */

#define PHYS_BASE 0xffff888000000000ul   /* all memory, read and write, never executed */
#define KERNEL_BASE 0xffffffff80000000ul /* the image: text, rodata, data, at physical 1 MiB */

static inline void *phys_to_virt(u64 phys) { return (void *)(phys + PHYS_BASE); }
static inline u64 virt_to_phys(const void *address) { return (u64)address - PHYS_BASE; }
static inline u64 image_to_phys(const void *address) { return (u64)address - KERNEL_BASE; }

/* What is kept about a page of usable memory. Of a block, only its first page's is used. */
struct page {
	/* In a list of free blocks, of pages with room for objects, or its owner's. */
	struct list node;
	void *free;       /* PAGE_OBJECTS: the free ones, linked through their first words */
	u32 references;
	u8 use;           /* enum page_use */
	u8 order;         /* of the block that begins here; PAGE_OBJECTS: the size class */
	u16 live;         /* PAGE_OBJECTS: objects handed out */
};

_Static_assert(sizeof(struct page) == 32, "0.8 % of all memory");

/* Zero for a page inside a block. */
enum page_use { PAGE_INSIDE, PAGE_FREE, PAGE_BLOCK, PAGE_OBJECTS };

/* Usable memory, told once at boot, page-aligned, already in the direct map. Its first part holds
 * what is kept about each of its pages. */
void page_add_range(u64 from, u64 to);
/* A block of 2^order pages, its address in the direct map; NULL if there is none. Not zeroed. */
void *page_alloc(unsigned order);
void *page_alloc_zeroed(unsigned order);
void page_free(void *block, unsigned order);
u64 page_free_count(void);
u64 page_total_count(void); /* free or not */
/* What is kept about the page at `phys`, which must be usable memory. */
struct page *page_of(u64 phys);
u64 page_phys(const struct page *page);

/* Reference counts of single pages (order 0); page_alloc gives 1, page_put frees at 0. */
void page_get(u64 phys);
void page_put(u64 phys);
u32 page_refs(u64 phys);

/* Objects up to 2048 bytes from size classes (powers of two from 32), larger ones as page blocks.
 * NULL if there is no memory. Safe in interrupts. */
void *kmalloc(size_t size);
void *kzalloc(size_t size);
void kfree(void *object);
/* Objects that kmalloc gave and nobody freed. */
u64 kmalloc_live(void);
/* Pages that kmalloc keeps without an object in them; page_free_count() counts them as free. */
u64 kmalloc_spare_pages(void);

#endif
