/*
 * Exceptions, and the work that is left to do before return to user mode. Called by entry.S.
 *
 * What a program raises becomes a signal, with Linux's numbers and codes. What the kernel raises
 * is a bug and ends the machine with its registers, but at the instructions listed in section
 * .fixups: those touch user memory or load what a program chose, and go on elsewhere if they
 * fault.
 *
 * Sources: Intel SDM volume 3, 6.15 (exceptions), 4.7 (page faults), 17.2.3 (DR6); Linux
 * arch/x86/kernel/traps.c, arch/x86/mm/fault.c.
 */
#include "../kernel/mm.h"
#include "../kernel/printk.h"
#include "../kernel/sched.h"
#include "../kernel/signal.h"
#include "../kernel/task.h"
#include "x86.h"
#include "cpu.h"
#include "desc.h"
#include "usercopy.h"

#define VECTOR_DEBUG 1
#define VECTOR_X87 16
#define VECTOR_PAGE_FAULT 14
#define VECTOR_SIMD 19

/* siginfo's codes */
#define FPE_INTDIV 1
#define FPE_FLTDIV 3
#define FPE_FLTOVF 4
#define FPE_FLTUND 5
#define FPE_FLTRES 6
#define FPE_FLTINV 7
#define ILL_ILLOPN 2
#define BUS_ADRALN 1
#define TRAP_BRKPT 1
#define TRAP_TRACE 2

#define PAGE_FAULT_USER 4 /* of the error code: an access by the program itself */

#define DR6_SINGLE_STEP 0x4000ul
#define DR6_CLEAR 0xffff0ff0ul

struct exception {
	const char *name;
	u32 signal;      /* to the program that raised it; 0: the machine can't go on */
	int code;
	bool at_rip;     /* siginfo's address is the instruction's */
};

static const struct exception exceptions[32] = {
	[0] = { "divide error", SIGFPE, FPE_INTDIV, true },
	[1] = { "debug", SIGTRAP, TRAP_BRKPT, true },
	[2] = { "non-maskable interrupt" },
	[3] = { "breakpoint", SIGTRAP, SI_KERNEL },
	[4] = { "overflow", SIGSEGV, SI_KERNEL },
	[5] = { "bound range exceeded", SIGSEGV, SI_KERNEL },
	[6] = { "invalid opcode", SIGILL, ILL_ILLOPN, true },
	[7] = { "device not available", SIGSEGV, SI_KERNEL },
	[8] = { "double fault" },
	[9] = { "coprocessor segment overrun", SIGFPE, SI_KERNEL },
	[10] = { "invalid TSS", SIGSEGV, SI_KERNEL },
	[11] = { "segment not present", SIGBUS, SI_KERNEL },
	[12] = { "stack fault", SIGBUS, SI_KERNEL },
	[13] = { "general protection", SIGSEGV, SI_KERNEL },
	[14] = { "page fault", SIGSEGV, SEGV_MAPERR },
	[16] = { "x87 floating-point error", SIGFPE, FPE_FLTINV, true },
	[17] = { "alignment check", SIGBUS, BUS_ADRALN },
	[18] = { "machine check" },
	[19] = { "SIMD floating-point error", SIGFPE, FPE_FLTINV, true },
};

/* In entry.S: where a program's single step goes on into the kernel. */
void entry_sysenter_end(void);

void trap(struct regs *regs, u64 vector, u64 error);
void user_iret_failed(struct regs *regs);

static _Noreturn void kernel_trap_fatal(struct regs *regs, u64 vector, u64 error, u64 address)
{
	const char *name = exceptions[vector].name;

	if (vector == VECTOR_PAGE_FAULT)
		panic_regs(regs, "page fault in the kernel at address %lx, error %lx", address,
			   error);
	panic_regs(regs, "%s in the kernel, vector %lu, error %lx",
		   name ? name : "reserved exception", vector, error);
}

/* Whether a page fault of the kernel's at `address` was served. It may be only if the program's
 * memory was meant, and where faults are expected: interrupts on, so no lock of ours is held with
 * them off. */
static bool kernel_page_fault(const struct regs *regs, u64 error, u64 address)
{
	int code;
	bool served;

	if (address >= USER_TOP || !current->mm || !(regs->rflags & FLAG_IF))
		return false;
	irq_enable();
	served = mm_fault(current->mm, address, error, &code) == 0;
	irq_disable();
	current->minor_faults += served;
	return served;
}

/* sysenter keeps TF: one step comes from our first instruction. The program goes on unstepped. */
static bool is_step_of_sysenter(const struct regs *regs, u64 vector)
{
	return vector == VECTOR_DEBUG && regs->rip >= (u64)entry_sysenter &&
	       regs->rip < (u64)entry_sysenter_end;
}

static void kernel_trap(struct regs *regs, u64 vector, u64 error)
{
	u64 address = read_cr2();
	u64 resume = fixup_find(regs->rip);

	if (is_step_of_sysenter(regs, vector)) {
		regs->rflags &= ~(u64)FLAG_TF;
		return;
	}
	if (!resume || !exceptions[vector].signal)
		kernel_trap_fatal(regs, vector, error, address);
	if (vector == VECTOR_PAGE_FAULT && kernel_page_fault(regs, error, address))
		return;
	regs->rip = resume;
	regs->rflags &= ~(u64)FLAG_NT; /* it may be why iretq faulted; our own would as well */
}

static void user_page_fault(u64 error, u64 address)
{
	int code = SEGV_MAPERR;
	u32 signal = SIGSEGV;

	irq_enable();
	/* Without that bit it was an access that the CPU made for the program, to a table of ours;
	 * or, with SMAP, QEMU's lret and iret, which read the program's stack so. No page helps. */
	if (address < USER_TOP && error & PAGE_FAULT_USER)
		signal = mm_fault(current->mm, address, error, &code);
	if (!signal) {
		current->minor_faults++;
		return;
	}
	kvm_check_fault(NULL, VECTOR_PAGE_FAULT, address);
	signal_force(signal, code, address);
}

/* siginfo's code for the lowest exception bit of x87's status or MXCSR: they have one order. */
static int float_code(u32 raised)
{
	static const u8 codes[] = {
		FPE_FLTINV, FPE_FLTUND /* denormal */,
		FPE_FLTDIV, FPE_FLTOVF, FPE_FLTUND, FPE_FLTRES,
	};

	for (unsigned bit = 0; bit < ARRAY_SIZE(codes); bit++)
		if (raised >> bit & 1)
			return codes[bit];
	return SI_KERNEL;
}

static int x87_code(void)
{
	u16 control, status;

	__asm__ volatile("fnstcw %0; fnstsw %1" : "=m"(control), "=m"(status));
	return float_code(status & ~control & 0x3f);
}

static int simd_code(void)
{
	u32 mxcsr;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	return float_code(mxcsr & ~(mxcsr >> 7) & 0x3f);
}

/* Whether it was a step; else the instruction int1. DR6 is never cleared by the CPU. */
static int debug_code(void)
{
	u64 dr6;

	__asm__ volatile("mov %%dr6, %0" : "=r"(dr6));
	__asm__ volatile("mov %0, %%dr6" ::"r"(DR6_CLEAR));
	return dr6 & DR6_SINGLE_STEP ? TRAP_TRACE : TRAP_BRKPT;
}

static void user_trap(struct regs *regs, u64 vector, u64 error)
{
	const struct exception *exception = &exceptions[vector];
	int code = exception->code;

	if (vector == VECTOR_PAGE_FAULT) {
		user_page_fault(error, read_cr2());
		return;
	}
	if (!exception->signal)
		panic_regs(regs, "%s in a program, vector %lu, error %lx",
			   exception->name ? exception->name : "reserved exception", vector, error);
	if (vector == VECTOR_DEBUG)
		code = debug_code();
	else if (vector == VECTOR_X87)
		code = x87_code();
	else if (vector == VECTOR_SIMD)
		code = simd_code();
	irq_enable();
	kvm_check_fault(regs, vector, 0);
	signal_force(exception->signal, code, exception->at_rip ? regs->rip : 0);
}

/* Interrupts are off; they may be on when it returns. */
void trap(struct regs *regs, u64 vector, u64 error)
{
	if (regs_user(regs))
		user_trap(regs, vector, error);
	else
		kernel_trap(regs, vector, error);
}

/*
 * The program's frame can't be returned to. It takes SIGSEGV by one that can, so that this ends
 * however the program handles it. Interrupts are off.
 */
void user_iret_failed(struct regs *regs)
{
	regs->cs = current->mm->compat ? USER_CS32 : USER_CS;
	regs->ss = USER_DS;
	irq_enable();
	signal_force(SIGSEGV, SI_KERNEL, 0);
}

/*
 * Does what is noted for the current task. Interrupts are off, and stay off from the last look to
 * user mode: what is noted later comes with an interrupt, which returns through here again.
 * schedule() is also where softirqs are looked for, as in 2.4.5.
 */
static inline void do_work(struct regs *regs, const u32 schedules)
{
	u32 work;

	while ((work = READ_ONCE(current->work)) & (schedules | WORK_SIGNAL)) {
		irq_enable();
		if (work & schedules)
			schedule();
		if (work & WORK_SIGNAL)
			signal_deliver(regs);
		irq_disable();
	}
	if (work & WORK_FRAME)
		__atomic_fetch_and(&current->work, ~WORK_FRAME, __ATOMIC_RELAXED);
	if (work & WORK_IO_BITMAP)
		iobitmap_exit_to_user();
}

void exit_work(struct regs *regs)
{
	do_work(regs, WORK_RESCHEDULE | WORK_SOFTIRQ);
}

void exit_work_but_softirqs(struct regs *regs)
{
	do_work(regs, WORK_RESCHEDULE);
}
