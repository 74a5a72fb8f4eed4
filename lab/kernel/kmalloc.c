/*
 * Small objects: pages cut into objects of one size class each (Bonwick, "The Slab Allocator",
 * USENIX 1994, without its caches and constructors). Larger objects are blocks of pages.
 *
 * A page with room is in its class's list. One that became empty goes back, but for one a class: so
 * an object that is made and freed again and again does not cost a page each time.
 */
#include "lock.h"
#include "page.h"
#include "printk.h"

#define SMALLEST_SHIFT 5 /* 32 bytes */
#define LARGEST_SHIFT 11 /* 2048 bytes */
#define CLASSES (LARGEST_SHIFT - SMALLEST_SHIFT + 1)

struct class {
	struct list pages;  /* with room */
	struct page *spare; /* the one that may stay empty, if it is */
};

static struct spinlock lock; /* irqsave; outside page.c's */
static struct class classes[CLASSES];
static u64 live;

/* The class whose objects have at least `size` bytes; CLASSES or more: none. */
static unsigned class_of(size_t size)
{
	if (size <= 1ul << SMALLEST_SHIFT)
		return 0;
	return 64 - __builtin_clzl(size - 1) - SMALLEST_SHIFT;
}

/* Cuts a new page into objects. */
static struct page *page_cut(unsigned class)
{
	size_t size = 1ul << (class + SMALLEST_SHIFT);
	char *memory = page_alloc(0);
	struct page *page;

	if (!memory)
		return NULL;
	page = page_of(virt_to_phys(memory));
	page->use = PAGE_OBJECTS;
	page->order = class;
	page->live = 0;
	page->free = NULL;
	for (size_t at = PAGE_SIZE; at > 0; at -= size) {
		*(void **)(memory + at - size) = page->free;
		page->free = memory + at - size;
	}
	list_add_head(&page->node, &classes[class].pages);
	return page;
}

static struct page *page_with_room(unsigned number)
{
	struct class *class = &classes[number];

	if (unlikely(!class->pages.next)) /* the first of its class ever */
		list_init(&class->pages);
	if (list_empty(&class->pages))
		return page_cut(number);
	return list_entry(class->pages.next, struct page, node);
}

static void *object_take(unsigned class)
{
	struct page *page = page_with_room(class);
	void **object;

	if (unlikely(!page))
		return NULL;
	if (classes[class].spare == page)
		classes[class].spare = NULL;
	object = page->free;
	page->free = *object;
	page->live++;
	if (!page->free)
		list_del(&page->node);
	return object;
}

static void object_return(struct page *page, void **object)
{
	struct class *class = &classes[page->order];

	assert(page->live > 0);
	if (!page->free)
		list_add_head(&page->node, &class->pages);
	*object = page->free;
	page->free = object;
	if (--page->live > 0)
		return;
	if (!class->spare) {
		class->spare = page;
		return;
	}
	list_del(&page->node);
	page->use = PAGE_BLOCK;
	page->order = 0;
	page_free(phys_to_virt(page_phys(page)), 0);
}

static void *large_take(size_t size)
{
	unsigned order = 0;

	while (PAGE_SIZE << order < size)
		if (++order > MAX_ORDER)
			return NULL;
	return page_alloc(order);
}

void *kmalloc(size_t size)
{
	unsigned class = class_of(size);
	u64 flags = spin_lock_irqsave(&lock);
	void *object = class < CLASSES ? object_take(class) : large_take(size);

	live += object != NULL;
	spin_unlock_irqrestore(&lock, flags);
	return object;
}

void *kzalloc(size_t size)
{
	void *object = kmalloc(size);

	return object ? memset(object, 0, size) : NULL;
}

void kfree(void *object)
{
	struct page *page;
	u64 flags;

	if (!object)
		return;
	page = page_of(virt_to_phys(object));
	assert(page->use == PAGE_OBJECTS || page->use == PAGE_BLOCK);
	flags = spin_lock_irqsave(&lock);
	if (page->use == PAGE_OBJECTS)
		object_return(page, object);
	else
		page_free(object, page->order);
	live--;
	spin_unlock_irqrestore(&lock, flags);
}

u64 kmalloc_live(void)
{
	return READ_ONCE(live);
}

u64 kmalloc_spare_pages(void)
{
	u64 count = 0;

	for (unsigned class = 0; class < CLASSES; class++)
		count += READ_ONCE(classes[class].spare) != NULL;
	return count;
}
