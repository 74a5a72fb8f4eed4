/*
 * Several CPUs: starting them, and the interrupts that they send each other.
 *
 * QEMU's firmware configuration tells how many there are, which saves reading ACPI's or Intel's MP
 * tables; one broadcast of INIT and start-up starts them all (Intel SDM volume 3, 9.4.4.1; QEMU,
 * docs/specs/fw_cfg.rst). Each takes the next number when it arrives and finds its stack by it.
 *
 * The stack that a CPU starts on becomes its idle task's: sched_init_cpu() finds the top of it in
 * percpu->kstack.
 */
#include "apic.h"
#include "x86.h"
#include "boot.h"
#include "../kernel/page.h"
#include "../kernel/printk.h"
#include "../kernel/sched.h"
#include "../kernel/time.h"

#define TRAMPOLINE 0x8000ul /* physical; below 1 MiB, which is never given out */
#define START_PATIENCE_S 2

#define FW_CFG_SELECT 0x510
#define FW_CFG_DATA 0x511
#define FW_CFG_SIGNATURE 0x00
#define FW_CFG_CPUS 0x05

#define FLUSH_PAGES_MOST 32 /* more are flushed by loading CR3 */

_Static_assert(offsetof(struct percpu, self) == PERCPU_SELF, "entry.S");
_Static_assert(offsetof(struct percpu, task) == PERCPU_CURRENT, "entry.S");
_Static_assert(offsetof(struct percpu, kstack) == PERCPU_KSTACK, "entry.S");
_Static_assert(offsetof(struct percpu, user_rsp) == PERCPU_USER_RSP, "entry.S");
_Static_assert(offsetof(struct percpu, softirq_look) == PERCPU_SOFTIRQ_LOOK, "entry.S");
_Static_assert(offsetof(struct percpu, irq_context) == PERCPU_IRQ_CONTEXT, "entry.S");

struct percpu percpu[MAX_CPUS];
u32 cpu_count = 1;

extern const u8 trampoline_start[], trampoline_end[];
u64 secondary_stacks[MAX_CPUS]; /* tops, for head.S */

static u32 fw_cfg_read(u16 item, unsigned bytes)
{
	u32 value = 0;

	out16(FW_CFG_SELECT, item);
	for (unsigned i = 0; i < bytes; i++)
		value |= (u32)in8(FW_CFG_DATA) << 8 * i;
	return value;
}

static u32 cpus_present(void)
{
	const u32 signature = 'Q' | 'E' << 8 | 'M' << 16 | 'U' << 24;

	if (fw_cfg_read(FW_CFG_SIGNATURE, 4) != signature)
		return 1;
	return fw_cfg_read(FW_CFG_CPUS, 2);
}

/* What the boot CPU did in main.c, for another. */
_Noreturn void smp_secondary_main(u32 number)
{
	struct percpu *cpu = &percpu[number];

	desc_init_cpu(cpu);
	cpu_init();
	write_cr3(kernel_root);
	apic_init_cpu();
	sched_init_cpu(cpu);
	getcpu_init_cpu(cpu);
	WRITE_ONCE(cpu->online, true);
	__atomic_fetch_add(&cpu_count, 1, __ATOMIC_RELEASE);
	idle_loop();
}

static void stack_prepare(u32 number)
{
	u64 *stack = page_alloc(KSTACK_ORDER);

	if (!stack)
		panic("no memory for the stack of CPU %u", number);
	stack[0] = KSTACK_MAGIC;
	percpu[number].number = number;
	percpu[number].kstack = (u64)stack + KSTACK_SIZE;
	secondary_stacks[number] = percpu[number].kstack;
}

void smp_start_others(void)
{
	u32 present = cpus_present(), wanted = min(present, (u32)MAX_CPUS);
	u64 flags, deadline;

	if (present > wanted)
		printk("%u CPUs present, %u used\n", present, wanted);
	if (wanted == 1)
		return;
	for (u32 i = 1; i < wanted; i++)
		stack_prepare(i);
	memcpy(phys_to_virt(TRAMPOLINE), trampoline_start, trampoline_end - trampoline_start);
	flags = irq_save();
	apic_command(0, APIC_COMMAND_OTHERS | APIC_COMMAND_ASSERT | APIC_COMMAND_INIT);
	apic_command(0, APIC_COMMAND_OTHERS | APIC_COMMAND_ASSERT | APIC_COMMAND_STARTUP |
			TRAMPOLINE / PAGE_SIZE);
	irq_restore(flags);
	deadline = read_tsc() + START_PATIENCE_S * tsc_hz;
	while (__atomic_load_n(&cpu_count, __ATOMIC_ACQUIRE) < wanted) {
		if (read_tsc() > deadline)
			panic("%u of %u CPUs started", cpu_count, wanted);
		cpu_pause();
	}
	printk("%u CPUs\n", cpu_count);
}

void smp_call_reschedule(u32 cpu)
{
	apic_send(percpu[cpu].apic_id, VECTOR_RESCHEDULE);
}

/* Nothing to do: work was set before it was sent, and the way back sees to that. */
void smp_reschedule_interrupt(void)
{
	apic_eoi();
}

/*
 * Flushing other CPUs' TLBs: one request at a time. A CPU that waits here, for the lock or for
 * the others, has interrupts on and so serves the request before its own; see TRICKS.md, "Waiting
 * for TLB flushes".
 */
static struct {
	struct spinlock lock; /* plain */
	u64 start, end;
	u64 pending; /* bit n: CPU n has yet to flush */
} flush_request;

static void flush_local(u64 start, u64 end)
{
	if ((end - start) / PAGE_SIZE > FLUSH_PAGES_MOST) {
		write_cr3(read_cr3());
		return;
	}
	for (u64 at = align_down(start, PAGE_SIZE); at < end; at += PAGE_SIZE)
		flush_page(at);
}

void smp_flush_interrupt(void)
{
	flush_local(flush_request.start, flush_request.end);
	apic_eoi();
	__atomic_fetch_and(&flush_request.pending, ~(1ul << this_cpu()->number), __ATOMIC_RELEASE);
}

static void flush_others(u64 cpus, u64 start, u64 end)
{
	assert(irqs_enabled());
	spin_lock(&flush_request.lock);
	flush_request.start = start;
	flush_request.end = end;
	__atomic_store_n(&flush_request.pending, cpus, __ATOMIC_SEQ_CST);
	for (u32 i = 0; i < cpu_count; i++) {
		if (cpus >> i & 1)
			apic_send(percpu[i].apic_id, VECTOR_FLUSH_TLB);
	}
	while (__atomic_load_n(&flush_request.pending, __ATOMIC_ACQUIRE))
		cpu_pause();
	spin_unlock(&flush_request.lock);
}

void tlb_flush(struct mm *mm, u64 start, u64 end)
{
	u64 self = 1ul << this_cpu()->number, cpus;

	/* Orders the caller's stores to the page tables before the load: mm_activate() sets the bit
	 * before the CPU can read the tables. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	cpus = READ_ONCE(mm->cpus);
	if (cpus & self)
		flush_local(start, end);
	if (cpus & ~self)
		flush_others(cpus & ~self, start, end);
}

_Noreturn void smp_stop_interrupt(void)
{
	for (;;) {
		irq_disable();
		cpu_halt();
	}
}

void smp_stop_others(void)
{
	if (cpu_count > 1)
		apic_command(0, APIC_COMMAND_OTHERS | APIC_COMMAND_ASSERT | VECTOR_STOP);
}
