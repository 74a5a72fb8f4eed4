/*
 * What of a task the CPU itself holds: FPU, segments and their bases, the stack for entries from
 * user mode. The switch changes them here, inlined into the scheduler; the callee-saved registers
 * and the stack itself are switch.S's.
 *
 * The FPU state is switched eagerly: fxsave and fxrstor, each time. Bases of FS and GS change
 * only by system calls or by loading a selector, since CR4.FSGSBASE is off; so the kernel knows
 * them, and reads but the selectors.
 *
 * Sources: Intel SDM volume 3, 3.4.4 (FS and GS), volume 1, 10.5 (FXSAVE); Linux
 * arch/x86/kernel/process_64.c.
 */
#ifndef LAB_CONTEXT_H
#define LAB_CONTEXT_H

#include "../kernel/task.h"
#include "x86.h"
#include "cpu.h"
#include "desc.h"
#include "percpu.h"

/* Loads the task's selectors, and the bases that do not come with one; interrupts are off. */
void load_selectors(const struct task *task);

_Static_assert(offsetof(struct task, gs) == offsetof(struct task, fs) + 2 &&
	       offsetof(struct task, ds) == offsetof(struct task, fs) + 4 &&
	       offsetof(struct task, es) == offsetof(struct task, fs) + 6 &&
	       offsetof(struct task, fs) % 8 == 0, "selectors() reads all four at once");

static inline u64 selectors(const struct task *task)
{
	u64 all;

	__builtin_memcpy(&all, &task->fs, sizeof(all));
	return all;
}

static inline void save_selectors(struct task *task)
{
	__asm__("mov %%fs, %0" : "=m"(task->fs));
	__asm__("mov %%gs, %0" : "=m"(task->gs));
	__asm__("mov %%ds, %0" : "=m"(task->ds));
	__asm__("mov %%es, %0" : "=m"(task->es));
}

static inline void load_tls(struct percpu *cpu, const struct task *task)
{
	cpu->gdt[GDT_TLS] = task->tls[0];
	cpu->gdt[GDT_TLS + 1] = task->tls[1];
	cpu->gdt[GDT_TLS + 2] = task->tls[2];
}

/* TLS descriptors first: a selector may refer to one. Bases are written even if both tasks have the
 * same: a program that loads a null selector clears its base unseen. */
static inline void switch_segments(struct percpu *cpu, struct task *prev, struct task *next)
{
	save_selectors(prev);
	load_tls(cpu, next);
	if (unlikely(selectors(prev) | selectors(next))) {
		load_selectors(next);
		return;
	}
	if (unlikely(prev->fs_base | next->fs_base))
		write_msr(MSR_FS_BASE, next->fs_base);
	if (unlikely(prev->gs_base | next->gs_base))
		write_msr(MSR_KERNEL_GS_BASE, next->gs_base);
}

static inline void switch_cpu_state(struct percpu *cpu, struct task *prev, struct task *next)
{
	fpu_save(prev->fpu);
	switch_segments(cpu, prev, next);
	cpu->kstack = next->kstack_top;
	cpu->tss.rsp[0] = next->kstack_top;
	fpu_load(next->fpu);
}

#endif
