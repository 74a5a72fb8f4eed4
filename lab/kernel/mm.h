/*
 * Address spaces: areas (what may be there) over page tables (what is there now).
 *
 * Pages come at the first touch; fork shares them read-only until someone writes. The lock of an
 * address space is a plain spinlock, held by page faults too, and nothing that may sleep runs under
 * it. A CPU that waits for it, or for other CPUs to flush their TLBs, has interrupts enabled.
 */
#ifndef LAB_MM_H
#define LAB_MM_H

#include "../x86/percpu.h"
#include "list.h"
#include "lock.h"
#include "types.h"

#define USER_TOP 0x00007ffffffff000ul      /* first address past user space */
#define USER_TOP_32 0x00000000ffffe000ul   /* the same for 32-bit programs */
#define USER_LOWEST 0x1000ul               /* page 0 is never mapped */

/* What may be done with an area, as mmap(2)'s PROT_*, and what it is. */
#define AREA_READ 1u
#define AREA_WRITE 2u
#define AREA_EXEC 4u
#define AREA_SHARED 8u     /* anonymous memory shared over fork; its pages are shared, not copied */
#define AREA_GROWSDOWN 16u /* a stack: grows to its limit by faults */
#define AREA_PINNED 32u    /* pages belong to the kernel (vDSO): never copied or freed */

/* mmap(2)'s flags that mm_map() knows. */
#define MAP_SHARED 0x01u
#define MAP_PRIVATE 0x02u
#define MAP_FIXED 0x10u
#define MAP_ANONYMOUS 0x20u
#define MAP_32BIT 0x40u
#define MAP_GROWSDOWN 0x100u
#define MAP_FIXED_NOREPLACE 0x100000u

struct shared_pages; /* mm_shared.c */

struct area {
	struct list node; /* in mm->areas, by address */
	u64 start, end;   /* page-aligned */
	u32 flags;
	struct shared_pages *shared; /* AREA_SHARED: the pages */
	u64 shared_first;            /* index of the one at `start` */
};

struct mm {
	struct spinlock lock;
	u32 users;     /* tasks that run in it */
	u64 root;      /* physical address of the top page table, for CR3 */
	u64 cpus;      /* bit n: CPU n may hold translations of it */
	struct list areas;
	u32 area_count;
	struct list tables; /* pages (page.h) that hold page tables, but for the top one */
	u64 brk_start, brk;
	u64 mmap_top;  /* mappings are placed downwards from here */
	bool compat;   /* a 32-bit program's */
};

struct mm *mm_create(void);                  /* an empty one, kernel mapped; NULL without memory */
struct mm *mm_fork(struct mm *from);         /* copy-on-write copy; NULL without memory */
void mm_get(struct mm *mm);
/* Frees everything when the last user goes. A task that leaves its own sets current->mm before. */
void mm_put(struct mm *mm);
/* Loads CR3 and notes the CPU; called by the switch too. NULL, for a kernel thread: no user memory,
 * so code that frees an address space need not ask which idle CPU is still in it. */
void mm_activate(struct mm *mm);

extern u64 kernel_root; /* physical: the top table without a user half (paging.c) */

/* The same for the scheduler, inlined; `next` is not the active one. */
static inline void mm_switch(struct percpu *cpu, struct mm *next)
{
	struct mm *old = cpu->active_mm;
	u64 bit = 1ul << cpu->number;

	/* Noted before the CPU can load any translation, struck out after it dropped the last. */
	if (next)
		__atomic_fetch_or(&next->cpus, bit, __ATOMIC_SEQ_CST);
	cpu->active_mm = next;
	write_cr3(next ? next->root : kernel_root);
	if (old)
		__atomic_fetch_and(&old->cpus, ~bit, __ATOMIC_SEQ_CST);
}

/* Maps anonymous memory. `address` 0: anywhere. Returns the address or a negative errno. */
i64 mm_map(struct mm *mm, u64 address, u64 length, u32 area_flags, u32 map_flags);
i64 mm_unmap(struct mm *mm, u64 address, u64 length);
i64 mm_protect(struct mm *mm, u64 address, u64 length, u32 area_flags);
/* Maps `pages` kernel-owned pages from `phys` (vDSO), read and execute or read only. */
i64 mm_map_pinned(struct mm *mm, u64 address, u64 phys, u64 pages, u32 area_flags);
/* Sets the end of the heap, or leaves it if that can't be; returns it (brk(2)). */
u64 mm_brk(struct mm *mm, u64 brk);
/* Forgets what private memory there holds: it reads as zero then (MADV_DONTNEED). */
i64 mm_discard(struct mm *mm, u64 address, u64 length);
/* Where shared memory is in physical memory, the key of its futexes; 0 if that at `address` is not
 * shared, or nothing is there now. */
u64 mm_shared_phys(struct mm *mm, u64 address);
/* Copies into another address space's fresh area, before it runs (exec). */
int mm_write(struct mm *mm, u64 address, const void *from, u64 length);

/* A page fault at a user address; error bits as the CPU gives them. 0, or a signal number:
 * SIGSEGV with *code SEGV_MAPERR or SEGV_ACCERR, or SIGKILL without memory. */
int mm_fault(struct mm *mm, u64 address, u32 error, int *code);

#endif
