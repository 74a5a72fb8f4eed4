/*
 * What each CPU has for itself; GS points to it in the kernel.
 *
 * Assembly uses the offsets PERCPU_*, asserted in smp.c.
 */
#ifndef LAB_PERCPU_H
#define LAB_PERCPU_H

#define PERCPU_SELF 0
#define PERCPU_CURRENT 8
#define PERCPU_KSTACK 16
#define PERCPU_USER_RSP 24
#define PERCPU_SOFTIRQ_LOOK 32
#define PERCPU_IRQ_CONTEXT 36

/* percpu->irq_context: what an interrupt interrupted, while its handler runs; else 0. */
#define IRQ_FROM_USER 1
#define IRQ_FROM_KERNEL 2

#define MAX_CPUS 8

#ifndef __ASSEMBLER__
#include "../kernel/list.h"
#include "../kernel/lock.h"
#include "../kernel/types.h"
#include "desc.h"

struct task;

/* Run-queue levels: 0..98 SCHED_FIFO priorities 99..1, 99 SCHED_OTHER, 100 none. */
#define LEVELS 128

struct runqueue {
	struct spinlock lock;        /* irqsave */
	u64 ready[LEVELS / 64];      /* bit n: level n has tasks; lowest runs first */
	struct list level[LEVELS];   /* runnable tasks but the one running */
	u32 count;                   /* runnable tasks, the running one included, idle not */
};

#define SOFTIRQS 5 /* LAB_SOFTIRQS */

/* The first raise of a softirq that is pending. */
struct softirq_raise {
	u64 at;      /* TSC */
	u64 context; /* LAB_IN_* */
};

struct percpu {
	struct percpu *self;
	struct task *task; /* that runs: `current` */
	u64 kstack;      /* top of the current task's kernel stack */
	u64 user_rsp;    /* scratch of the syscall entry */
	u32 softirq_look; /* the end of an interrupt must check for softirqs */
	u32 irq_context;  /* IRQ_FROM_*, or 0 */
	u32 softirq_pending;  /* bit n: softirq n was raised, and its run has not begun */
	u32 softirq_disabled; /* they run now, or are not to run: how often nested */
	u64 softirq_bank;     /* which of softirq_raises takes stamps; the other's are being run */
	struct softirq_raise softirq_raises[2][SOFTIRQS];
	struct task *ksoftirqd;
	bool halted; /* the test device interrupts a hlt; until it has raised */
	u32 number;
	u32 apic_id;
	u32 node;
	bool online;
	struct task *idle;
	struct mm *active_mm;        /* whose page tables CR3 has */
	struct runqueue rq;
	u64 ticks;
	u64 next_tick;               /* TSC */
	/* When the timer is to be the test device's interrupt; or NEVER. */
	u64 device_deadline;
	struct list timers;          /* by deadline */
	struct spinlock timer_lock;  /* irqsave */
	/* iobitmap=lazy: which bitmap the TSS holds, and how far it may differ from all ones. */
	u64 bitmap_sequence;
	u32 bitmap_bytes;
	u64 gdt[GDT_ENTRIES] __attribute__((aligned(64)));
	u64 gdt_spare[GDT_SPARE];    /* right after `gdt`: see getcpu.c */
	struct tss tss;
} __attribute__((aligned(4096)));

extern struct percpu percpu[MAX_CPUS];
extern u32 cpu_count; /* CPUs online */

static inline struct percpu *this_cpu(void)
{
	struct percpu *cpu;

	__asm__ volatile("mov %%gs:%c1, %0" : "=r"(cpu) : "i"(PERCPU_SELF));
	return cpu;
}

/* The running task. A constant as long as it runs, so the compiler may keep it. */
static inline struct task *current_task(void)
{
	struct task *task;

	__asm__("mov %%gs:%c1, %0" : "=r"(task) : "i"(PERCPU_CURRENT));
	return task;
}
#define current current_task()
#endif

#endif
