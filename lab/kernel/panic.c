/*
 * The end: what the kernel prints when it finds itself broken, and how the machine is left.
 *
 * The back trace is made of all words on the stack that could be return addresses, that is, point
 * after a call. Old ones that were not overwritten show up too; better one too many than a frame
 * pointer on every measured path.
 */
#include "panic.h"

#include "../x86/boot.h"
#include "../x86/x86.h"
#include "kallsyms.h"
#include "page.h"
#include "printk.h"

#define EXIT_PORT 0xf4           /* QEMU's isa-debug-exit */
#define KEYBOARD_COMMAND 0x64
#define KEYBOARD_RESET 0xfe
#define PANIC_EXIT_CODE 1        /* QEMU's is 2 * 1 + 1 */
#define TRACE_MOST 24
#define NOBODY (-1)

static i32 panic_cpu = NOBODY;

bool panicking(void)
{
	return READ_ONCE(panic_cpu) != NOBODY;
}

_Noreturn void machine_exit(u32 code)
{
	static const struct { u16 limit; u64 base; } __attribute__((packed)) no_idt;

	irq_disable();
	out32(EXIT_PORT, code);
	out8(KEYBOARD_COMMAND, KEYBOARD_RESET);
	/* No handler for the breakpoint, none for that fault, none for the double fault: reset. */
	__asm__ volatile("lidt %0; int3" ::"m"(no_idt));
	for (;;)
		cpu_halt();
}

/* Whether the bytes before `address` are a call: e8 and a distance, or ff /2 with any operand. */
static bool behind_call(u64 address)
{
	const u8 *at = (const u8 *)address;

	if (address < (u64)text_start + 8 || address >= (u64)text_end)
		return false;
	if (at[-5] == 0xe8)
		return true;
	for (int length = 2; length <= 7; length++) {
		if (at[-length] == 0xff && (at[1 - length] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

/* First address after the stack that `rsp` is in. */
static u64 stack_end(u64 rsp)
{
	const struct task *task = this_cpu()->task;

	if (task && task->kstack && rsp >= (u64)task->kstack && rsp < task->kstack_top)
		return task->kstack_top;
	return align_up(rsp + 1, PAGE_SIZE); /* a boot or exception stack: to the page's end */
}

static void print_code_address(const char *before, u64 address)
{
	char name[80];

	kallsyms_name(address, name, sizeof(name));
	printk("%s%lx %s\n", before, address, name);
}

static void print_trace(u64 rsp)
{
	int count = 0;

	printk("on the stack:\n");
	for (u64 at = align_up(rsp, 8), end = stack_end(rsp);
	     at < end && count < TRACE_MOST; at += 8) {
		u64 word = *(const u64 *)at;

		/* Named by the call itself: what follows it may belong to the next function. */
		if (behind_call(word)) {
			print_code_address("  ", word - 1);
			count++;
		}
	}
}

static void print_regs(const struct regs *r)
{
	printk("rax %016lx rbx %016lx rcx %016lx rdx %016lx\n", r->rax, r->rbx, r->rcx, r->rdx);
	printk("rsi %016lx rdi %016lx rbp %016lx rsp %016lx\n", r->rsi, r->rdi, r->rbp, r->rsp);
	printk("r8  %016lx r9  %016lx r10 %016lx r11 %016lx\n", r->r8, r->r9, r->r10, r->r11);
	printk("r12 %016lx r13 %016lx r14 %016lx r15 %016lx\n", r->r12, r->r13, r->r14, r->r15);
	printk("cs %02lx ss %02lx rflags %08lx error %lx\n", r->cs, r->ss, r->rflags, r->orig_rax);
	print_code_address("rip ", r->rip);
}

/* Makes this the one CPU that panics. A second panic on it must not print again. */
static void panic_begin(void)
{
	i32 nobody = NOBODY;

	irq_disable();
	if (__atomic_compare_exchange_n(&panic_cpu, &nobody, this_cpu()->number, false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		smp_stop_others();
		return;
	}
	if (nobody == (i32)this_cpu()->number)
		machine_exit(PANIC_EXIT_CODE);
	for (;;)
		cpu_halt();
}

static _Noreturn void panic_end(const struct regs *regs, u64 rsp)
{
	const struct task *task = this_cpu()->task;

	printk("\nCPU %u, task %u %s\n", this_cpu()->number, task ? task->tid : 0,
	       task ? task->name : "(boot)");
	printk("cr0 %lx cr2 %lx cr3 %lx cr4 %lx\n", read_cr0(), read_cr2(), read_cr3(), read_cr4());
	if (regs)
		print_regs(regs);
	print_trace(rsp);
	machine_exit(PANIC_EXIT_CODE);
}

#define panic_say(format)                                                                          \
	do {                                                                                       \
		va_list arguments;                                                                 \
		panic_begin();                                                                     \
		printk("panic: ");                                                                 \
		va_start(arguments, format);                                                       \
		vprintk(format, arguments);                                                        \
		va_end(arguments);                                                                 \
	} while (0)

_Noreturn void panic(const char *format, ...)
{
	panic_say(format);
	panic_end(NULL, (u64)__builtin_frame_address(0));
}

_Noreturn void panic_regs(const struct regs *regs, const char *format, ...)
{
	panic_say(format);
	panic_end(regs, regs_user(regs) ? (u64)regs : regs->rsp);
}
