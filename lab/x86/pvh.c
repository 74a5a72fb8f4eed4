/*
 * What the loader tells: the PVH start info with the memory map, the command line and the initramfs
 * as the first module (Xen, public/arch-x86/hvm/start_info.h).
 *
 * All of it lies below 1 MiB, which is never given out, or is copied here.
 */
#include "x86.h"
#include "boot.h"
#include "../kernel/page.h"
#include "../kernel/printk.h"

#define START_INFO_MAGIC 0x336ec578
#define LOW_MEMORY_END 0x100000ul
#define MEMORY_RAM 1

struct start_info {
	u32 magic;
	u32 version;
	u32 flags;
	u32 module_count;
	u64 modules;      /* physical, as all addresses here */
	u64 command_line;
	u64 rsdp;
	u64 memory_map;   /* version 1 */
	u32 memory_map_count;
	u32 reserved;
};

struct start_module {
	u64 address, size, command_line, reserved;
};

struct start_memory {
	u64 address, size;
	u32 type; /* as ACPI's E820 */
	u32 reserved;
};

_Static_assert(sizeof(struct start_info) == 56, "start_info.h");
_Static_assert(sizeof(struct start_module) == 32, "start_info.h");
_Static_assert(sizeof(struct start_memory) == 24, "start_info.h");

struct boot_info boot_info;
struct memory_range memory_ranges[MEMORY_RANGES];
unsigned memory_range_count;

/* Gives [from, to) to the page allocator, without what lies in [hole_from, hole_to). */
static void add_around(u64 from, u64 to, u64 hole_from, u64 hole_to)
{
	u64 before = min(to, max(from, hole_from));
	u64 after = max(from, min(to, hole_to));

	if (before > from)
		page_add_range(from, before);
	if (to > after)
		page_add_range(max(before, after), to);
}

static void add_memory(u64 from, u64 to)
{
	u64 initramfs_end = boot_info.initramfs + boot_info.initramfs_size;

	if (to > MEMORY_LIMIT) {
		printk("memory from 4 GiB is not used\n");
		to = MEMORY_LIMIT;
	}
	from = align_up(from, PAGE_SIZE);
	to = align_down(to, PAGE_SIZE);
	if (from >= to)
		return;
	if (memory_range_count == MEMORY_RANGES)
		panic("the memory map has more than %u usable ranges", MEMORY_RANGES);
	memory_ranges[memory_range_count++] = (struct memory_range){ from, to };

	/* The image is the lowest thing above the first MiB. */
	from = max(from, align_up(image_to_phys(image_end), PAGE_SIZE));
	if (from < to)
		add_around(from, to, align_down(boot_info.initramfs, PAGE_SIZE),
			   align_up(initramfs_end, PAGE_SIZE));
}

static void copy_command_line(const char *from)
{
	size_t length = strlen(from);

	if (length >= sizeof(boot_info.command_line))
		panic("the command line has %lu characters; %lu are allowed", length,
		      sizeof(boot_info.command_line) - 1);
	memcpy(boot_info.command_line, from, length + 1);
}

void boot_read(u64 start_info_phys)
{
	const struct start_info *info = phys_to_virt(start_info_phys);
	const struct start_memory *memory;

	if (info->magic != START_INFO_MAGIC || info->version < 1)
		panic("no PVH start info of version 1 at %lx", start_info_phys);
	if (info->command_line)
		copy_command_line(phys_to_virt(info->command_line));
	if (info->module_count) {
		const struct start_module *module = phys_to_virt(info->modules);

		boot_info.initramfs = module->address;
		boot_info.initramfs_size = module->size;
	}
	boot_info.rsdp = info->rsdp;
	memory = phys_to_virt(info->memory_map);
	for (u32 i = 0; i < info->memory_map_count; i++) {
		if (memory[i].type == MEMORY_RAM && memory[i].address < MEMORY_LIMIT)
			add_memory(memory[i].address, memory[i].address + memory[i].size);
	}
	if (!memory_range_count)
		panic("the memory map has no usable memory");
}
