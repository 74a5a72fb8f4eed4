/* Between the boot files: what the PVH start info told, and the image's parts (kernel.lds). */
#ifndef LAB_BOOT_H
#define LAB_BOOT_H

#include "../kernel/types.h"

/* Only the first 4 GiB are used: the tables of head.S reach that far, and a lab needs no more. */
#define MEMORY_LIMIT 0x100000000ul
#define MEMORY_RANGES 16

struct memory_range {
	u64 from, to; /* physical; page-aligned inwards */
};

/* Usable memory, the image and the initramfs included. */
extern struct memory_range memory_ranges[MEMORY_RANGES];
extern unsigned memory_range_count;

extern const char image_start[], image_end[];
extern const char text_start[], text_end[], rodata_start[], rodata_end[];
extern char boot_stack_top[];

#endif
