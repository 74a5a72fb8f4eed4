/*
 * What only the lab kernel has: one system call with sub-commands, the same number for 64-bit and
 * 32-bit programs. Everything else is Linux's ABI. On Linux the number has no meaning: -ENOSYS.
 *
 * Usable from C and assembly.
 */
#ifndef LAB_UAPI_H
#define LAB_UAPI_H

#define SYS_LAB 500 /* lab(command, argument) */

/* sched_yield(2), then the flags register as the kernel itself has it behind the switch: what the
 * task that ran meanwhile left there (policy `flags`). */
#define LAB_YIELD_FLAGS 0
/* Writes a struct lab_statistics to `argument`; 0 or -EFAULT. */
#define LAB_STATISTICS 1

#ifndef __ASSEMBLER__
#include <stdint.h>

/* What must be the same before and after: counts of what lives in the kernel. */
struct lab_statistics {
	uint64_t tasks;      /* user and kernel threads; zombies too */
	uint64_t free_pages;
	uint64_t objects;    /* kmalloc's */
	uint64_t files;      /* open files, however many descriptors they have */
};

_Static_assert(sizeof(struct lab_statistics) == 32, "ABI");
#endif

#endif
