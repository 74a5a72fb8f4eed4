/*
 * The kernel's page tables: the image with its protections, and all memory at PHYS_BASE.
 *
 *   KERNEL_BASE + 1 MiB   text read-exec, rodata read-only, the rest read-write; 4 KiB pages
 *   PHYS_BASE             all memory read-write, 2 MiB pages; text and rodata read-only here too
 *   PHYS_BASE + APIC      the local APIC, uncached; other devices where there are any
 *
 * Nothing is writable and executable but text until text_protect(), and nothing but text is
 * executable. The top-level entries of the kernel's half never change after paging_init(), so
 * address spaces copy them once. Source: Intel SDM volume 3, 4.5.
 */
#include "apic.h"
#include "x86.h"
#include "boot.h"
#include "../kernel/page.h"
#include "../kernel/printk.h"

#define PTE_PRESENT 0x001ul
#define PTE_WRITE 0x002ul
#define PTE_USER 0x004ul
#define PTE_UNCACHED 0x018ul /* PCD, PWT */
#define PTE_LARGE 0x080ul
#define PTE_GLOBAL 0x100ul
#define PTE_NX (1ul << 63)
#define PTE_ADDRESS 0x000ffffffffff000ul

#define READ_ONLY (PTE_PRESENT | PTE_GLOBAL | PTE_NX)
#define READ_WRITE (READ_ONLY | PTE_WRITE)
#define READ_EXEC (PTE_PRESENT | PTE_GLOBAL)

#define LARGE_PAGE_SIZE 0x200000ul
#define KERNEL_HALF 256 /* first top-level entry */

u64 kernel_root;

/* The table below entry `index` of `table`; made if there is none. */
static u64 *table_below(u64 *table, unsigned index)
{
	if (!(table[index] & PTE_PRESENT)) {
		void *below = page_alloc_zeroed(0);

		if (!below)
			panic("no memory for the kernel's page tables");
		table[index] = virt_to_phys(below) | PTE_PRESENT | PTE_WRITE;
	}
	return phys_to_virt(table[index] & PTE_ADDRESS);
}

/* The page directory that maps `address`. */
static u64 *directory_of(u64 address)
{
	u64 *top = phys_to_virt(kernel_root);

	return table_below(table_below(top, address >> 39 & 511), address >> 30 & 511);
}

/* Maps [address, end) to `phys` on, by large pages where all three allow it. */
static void map(u64 address, u64 end, u64 phys, u64 flags)
{
	while (address < end) {
		u64 *directory = directory_of(address);
		unsigned index = address >> 21 & 511;

		if (!((address | phys) % LARGE_PAGE_SIZE) && end - address >= LARGE_PAGE_SIZE) {
			directory[index] = phys | flags | PTE_LARGE;
			address += LARGE_PAGE_SIZE;
			phys += LARGE_PAGE_SIZE;
		} else {
			table_below(directory, index)[address >> 12 & 511] = phys | flags;
			address += PAGE_SIZE;
			phys += PAGE_SIZE;
		}
	}
}

/* Maps the part [from, to) of the image, at its own address and in the direct map. */
static void map_image(const char *from, const char *to, u64 flags, u64 direct_flags)
{
	u64 phys = image_to_phys(from), end = image_to_phys(to);

	map((u64)from, (u64)to, phys, flags);
	map(phys + PHYS_BASE, end + PHYS_BASE, phys, direct_flags);
}

static void map_direct(u64 from, u64 to)
{
	map(from + PHYS_BASE, to + PHYS_BASE, from, READ_WRITE);
}

void *device_map(u64 phys)
{
	u64 page = align_down(phys, PAGE_SIZE), address = page + PHYS_BASE;

	map(address, address + PAGE_SIZE, page, READ_WRITE | PTE_UNCACHED);
	return phys_to_virt(phys);
}

void paging_init(void)
{
	u64 image_from = image_to_phys(image_start);
	u64 image_large_end = align_up(image_to_phys(image_end), LARGE_PAGE_SIZE);

	kernel_root = virt_to_phys(page_alloc_zeroed(0));
	map_direct(0, image_from);
	map_image(text_start, text_end, READ_EXEC | PTE_WRITE, READ_ONLY);
	map_image(rodata_start, rodata_end, READ_ONLY, READ_ONLY);
	map_image(rodata_end, image_end, READ_WRITE, READ_WRITE);
	map_direct(image_to_phys(image_end), image_large_end);
	for (unsigned i = 0; i < memory_range_count; i++) {
		u64 from = align_down(memory_ranges[i].from, LARGE_PAGE_SIZE);

		map_direct(max(from, image_large_end),
			   align_up(memory_ranges[i].to, LARGE_PAGE_SIZE));
	}
	device_map(APIC_PHYS);
	write_cr3(kernel_root);
}

void text_protect(void)
{
	u64 address = (u64)text_start;

	map(address, (u64)text_end, image_to_phys(text_start), READ_EXEC);
	for (; address < (u64)text_end; address += PAGE_SIZE)
		flush_page(address);
}

u64 paging_new_root(void)
{
	u64 *root = page_alloc_zeroed(0);
	const u64 *kernel = phys_to_virt(kernel_root);

	if (!root)
		return 0;
	memcpy(root + KERNEL_HALF, kernel + KERNEL_HALF, KERNEL_HALF * sizeof(u64));
	return virt_to_phys(root);
}
