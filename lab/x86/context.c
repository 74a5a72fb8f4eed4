/*
 * A task's state in the CPU: how it begins, and what of it the switch need not do each time.
 * context.h has the rest.
 *
 * Sources: Intel SDM volume 3, 3.4.4 (FS and GS), volume 1, 10.5 (FXSAVE).
 */
#include "../kernel/variants.h"
#include "../kernel/syscall.h"
#include "../kernel/task.h"
#include "x86.h"
#include "context.h"
#include "cpu.h"
#include "fpu.h"

/* All exceptions masked: what a program starts with. */
#define FPU_CONTROL_DEFAULT 0x37f
#define MXCSR_DEFAULT 0x1f80

void fpu_init_state(void *fpu)
{
	*(struct fpu_state *)fpu = (struct fpu_state){
		.control = FPU_CONTROL_DEFAULT,
		.mxcsr = MXCSR_DEFAULT,
	};
}

/* A selector whose descriptor is gone becomes the null selector. GS between two swapgs: loading
 * it sets the base, which must be the program's. */
#define LOAD_SELECTOR(name, selector, before, after)                                               \
	__asm__ volatile(before "mov %1, %%" name "\n"                                             \
			 "1: mov %0, %%" name "\n"                                                 \
			 "2: " after ".pushsection .fixups, \"a\"\n"                               \
			 ".quad 1b, 2b\n"                                                          \
			 ".popsection\n" ::"r"((u32)(selector)), "r"(0)                            \
			 : "memory")

/* Selectors, and the bases that do not come with one. */
void load_selectors(const struct task *task)
{
	LOAD_SELECTOR("ds", task->ds, "", "");
	LOAD_SELECTOR("es", task->es, "", "");
	LOAD_SELECTOR("fs", task->fs, "", "");
	LOAD_SELECTOR("gs", task->gs, "swapgs\n", "swapgs\n");
	if (!(task->fs & ~3))
		write_msr(MSR_FS_BASE, task->fs_base);
	if (!(task->gs & ~3))
		write_msr(MSR_KERNEL_GS_BASE, task->gs_base);
}

void segments_save(struct task *task)
{
	save_selectors(task);
}

void segments_load(struct task *task)
{
	u64 flags = irq_save();

	load_tls(this_cpu(), task);
	load_selectors(task);
	irq_restore(flags);
}

/* What SAVE_AND_CHANGE_STACK in switch.S pops, last pushed first, and where its `ret` goes. */
struct first_frame {
	u64 r15, r14, r13, r12, rbx, rbp;
	u64 rip;
	struct regs regs;
};

void task_first_frame(struct task *task, void (*body)(void *), void *argument)
{
	struct first_frame *frame = container_of(task_regs(task), struct first_frame, regs);
	bool flags_on_stack = variants.flags == FLAGS_SAVE || variants.flags == FLAGS_CONSTANT;

	frame->rip = (u64)ret_from_fork;
	frame->rbp = 0;
	frame->rbx = (u64)body;
	frame->r12 = (u64)argument;
	frame->r13 = frame->r14 = frame->r15 = 0;
	task->rsp = (u64)frame;
	if (flags_on_stack) {
		task->rsp -= sizeof(u64);
		*(u64 *)task->rsp = task->eflags | FLAG_ONE;
	}
}
