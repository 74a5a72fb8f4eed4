/*
 * The local APIC: interrupts between CPUs, and the one-shot timer. Its registers are accessed in
 * memory, or by MSRs if the firmware left the APIC in x2APIC mode, which hides the memory form. The
 * kernel does not enable that mode: with eight CPUs it gains nothing, and under QEMU's exact clock
 * a `rdmsr` of the timer's count ends QEMU ("Bad icount read"). The old interrupt controllers are
 * masked: the only device there is interrupts by the I/O APIC (ioapic.c).
 *
 * Source: Intel SDM volume 3, chapter 11; 11.12 for x2APIC.
 */
#include "apic.h"
#include "x86.h"
#include "../kernel/page.h"
#include "../kernel/time.h"

#define APIC_BASE_ENABLE 0x800ul
#define MSR_X2APIC 0x800
#define MSR_X2APIC_COMMAND 0x830

u64 apic_per_tsc;

static volatile u32 *apic_register(u32 offset)
{
	return phys_to_virt(APIC_PHYS + offset);
}

u32 apic_read(u32 offset)
{
	if (cpu_features.x2apic)
		return read_msr(MSR_X2APIC + offset / 16);
	return *apic_register(offset);
}

void apic_write(u32 offset, u32 value)
{
	if (cpu_features.x2apic)
		write_msr(MSR_X2APIC + offset / 16, value);
	else
		*apic_register(offset) = value;
}

/* Interrupts off: the two halves of the command register belong together. */
void apic_command(u32 apic_id, u32 command)
{
	if (cpu_features.x2apic) {
		/* Unlike the memory form, wrmsr here is not ordered after earlier stores. */
		__asm__ volatile("mfence; lfence" ::: "memory");
		write_msr(MSR_X2APIC_COMMAND, (u64)apic_id << 32 | command);
		return;
	}
	while (apic_read(APIC_COMMAND_LOW) & APIC_COMMAND_PENDING)
		cpu_pause();
	apic_write(APIC_COMMAND_HIGH, apic_id << 24);
	apic_write(APIC_COMMAND_LOW, command);
}

static void pic_mask(void)
{
	out8(0x21, 0xff);
	out8(0xa1, 0xff);
}

void apic_init_cpu(void)
{
	u64 base = read_msr(MSR_APIC_BASE) | APIC_BASE_ENABLE;
	u32 id;

	/* CPUs that start later come without x2APIC; to enable it the APIC must be on before. */
	write_msr(MSR_APIC_BASE, base);
	if (cpu_features.x2apic)
		write_msr(MSR_APIC_BASE, base | APIC_BASE_X2APIC);
	pic_mask();
	apic_write(APIC_TASK_PRIORITY, 0);
	apic_write(APIC_LVT_LINT0, APIC_LVT_MASKED);
	apic_write(APIC_LVT_LINT1, APIC_LVT_NMI);
	apic_write(APIC_TIMER_DIVIDE, APIC_DIVIDE_BY_1);
	apic_write(APIC_LVT_TIMER, VECTOR_TIMER);
	apic_write(APIC_SPURIOUS, APIC_SOFTWARE_ENABLE | VECTOR_SPURIOUS);
	id = apic_read(APIC_ID);
	this_cpu()->apic_id = cpu_features.x2apic ? id : id >> 24;
}

void apic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

void apic_send(u32 apic_id, u32 vector)
{
	u64 flags = irq_save();

	apic_command(apic_id, APIC_COMMAND_ASSERT | vector);
	irq_restore(flags);
}

void apic_timer_vector(u32 vector)
{
	apic_write(APIC_LVT_TIMER, vector);
}

void apic_timer_set(u64 deadline)
{
	i64 cycles = deadline - read_tsc();
	u64 counts;

	/* Far deadlines come in steps: code that is called too early sets the timer again. */
	cycles = min(max(cycles, 0l), (i64)UINT32_MAX);
	counts = ((u64)cycles * apic_per_tsc) >> 32;
	/* A count of 0 would stop the timer. */
	apic_write(APIC_TIMER_INITIAL, min(max(counts, 1ul), (u64)UINT32_MAX));
}
