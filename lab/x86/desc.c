/*
 * Segments, task state segments and the interrupt table.
 *
 * Sources: Intel SDM volume 3, 3.4.5 (segments), 6.14 (64-bit gates), 7.2.3 (TSS descriptor).
 */
#include "desc.h"
#include "x86.h"
#include "percpu.h"
#include "../kernel/page.h"

#define KERNEL_CODE_32 0x00cf9b000000fffful
#define KERNEL_CODE_64 0x00af9b000000fffful
#define KERNEL_DATA 0x00cf93000000fffful
#define USER_CODE_32 0x00cffb000000fffful
#define USER_DATA 0x00cff3000000fffful
#define USER_CODE_64 0x00affb000000fffful
#define SEGMENT_TSS 0x0000890000000000ul
#define SEGMENT_READ_ONLY_USER 0x0000f50000000000ul /* its limit is all there is to it */

#define GATE_INTERRUPT 0x8e
#define GATE_USER 0x60 /* may be raised by `int` in a program */

#define IST_COUNT 4

struct gate {
	u16 offset_low;
	u16 selector;
	u8 ist;
	u8 type;
	u16 offset_middle;
	u32 offset_high;
	u32 reserved;
};

_Static_assert(sizeof(struct gate) == 16, "Intel SDM");

struct table_pointer {
	u16 limit;
	u64 base;
} __attribute__((packed));

static struct gate idt[256] __attribute__((aligned(PAGE_SIZE)));
static u8 ist_stacks[MAX_CPUS][IST_COUNT][PAGE_SIZE] __attribute__((aligned(16)));

void entry_timer(void);
void entry_reschedule(void);
void entry_flush_tlb(void);
void entry_stop(void);
void entry_network(void);
void entry_test(void);
void entry_spurious(void);

static u64 descriptor_limit(u32 limit)
{
	return (limit & 0xffff) | (u64)(limit & 0xf0000) << 32;
}

static u64 descriptor_base(u64 base)
{
	return (base & 0xffffff) << 16 | (base >> 24 & 0xff) << 56;
}

static void gdt_fill(struct percpu *cpu)
{
	u64 tss = (u64)&cpu->tss;

	cpu->gdt[KERNEL_CS / 8 - 1] = KERNEL_CODE_32;
	cpu->gdt[KERNEL_CS / 8] = KERNEL_CODE_64;
	cpu->gdt[KERNEL_DS / 8] = KERNEL_DATA;
	cpu->gdt[USER_CS32 / 8] = USER_CODE_32;
	cpu->gdt[USER_DS / 8] = USER_DATA;
	cpu->gdt[USER_CS / 8] = USER_CODE_64;
	cpu->gdt[GDT_TSS] = SEGMENT_TSS | descriptor_limit(TSS_LIMIT) | descriptor_base(tss);
	cpu->gdt[GDT_TSS + 1] = tss >> 32;
}

static void tss_fill(struct percpu *cpu)
{
	iobitmap_init_cpu(cpu);
	for (unsigned i = 0; i < IST_COUNT; i++)
		cpu->tss.ist[i] = (u64)ist_stacks[cpu - percpu][i] + PAGE_SIZE;
}

void desc_set_idt_limit(u16 limit)
{
	struct table_pointer pointer = { limit, (u64)idt };

	__asm__ volatile("lidt %0" ::"m"(pointer));
}

void desc_init_cpu(struct percpu *cpu)
{
	struct table_pointer pointer = { sizeof(cpu->gdt) - 1, (u64)cpu->gdt };

	gdt_fill(cpu);
	tss_fill(cpu);
	__asm__ volatile("lgdt %0" ::"m"(pointer));
	__asm__ volatile("ltr %w0" ::"r"(TSS_SELECTOR));
	desc_set_idt_limit(sizeof(idt) - 1);
	cpu->self = cpu;
	write_msr(MSR_GS_BASE, (u64)cpu);
	write_msr(MSR_KERNEL_GS_BASE, 0);
}

static void gate_set(unsigned vector, u64 handler, u8 flags, u8 ist)
{
	idt[vector] = (struct gate){
		.offset_low = handler,
		.selector = KERNEL_CS,
		.ist = ist,
		.type = GATE_INTERRUPT | flags,
		.offset_middle = handler >> 16,
		.offset_high = handler >> 32,
	};
}

void idt_init(void)
{
	static const struct { u8 vector, ist; } stacks[] = {
		{ 1, IST_DEBUG }, { 2, IST_NMI }, { 8, IST_DOUBLE_FAULT },
		{ 18, IST_MACHINE_CHECK },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(exception_entries); i++)
		gate_set(i, exception_entries[i], 0, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++)
		idt[stacks[i].vector].ist = stacks[i].ist;
	idt[3].type |= GATE_USER; /* int3 */
	idt[4].type |= GATE_USER; /* into */
	gate_set(VECTOR_SYSCALL, (u64)entry_int80, GATE_USER, 0);
	gate_set(VECTOR_TIMER, (u64)entry_timer, 0, 0);
	gate_set(VECTOR_RESCHEDULE, (u64)entry_reschedule, 0, 0);
	gate_set(VECTOR_FLUSH_TLB, (u64)entry_flush_tlb, 0, 0);
	gate_set(VECTOR_STOP, (u64)entry_stop, 0, 0);
	gate_set(VECTOR_NETWORK, (u64)entry_network, 0, 0);
	gate_set(VECTOR_TEST, (u64)entry_test, 0, 0);
	gate_set(VECTOR_SPURIOUS, (u64)entry_spurious, 0, 0);
}

void desc_set_cpunode(struct percpu *cpu, u32 value)
{
	cpu->gdt[GDT_CPUNODE] = SEGMENT_READ_ONLY_USER | descriptor_limit(value);
}

void desc_set_tls(struct percpu *cpu, unsigned index, u64 descriptor)
{
	cpu->gdt[GDT_TLS + index] = descriptor;
}
