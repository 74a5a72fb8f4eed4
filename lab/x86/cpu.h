/*
 * One inline wrapper an instruction, and the bits of the control registers and MSRs with the
 * manual's names (Intel SDM volume 3, 2.5; volume 4). Everything here is only for the kernel.
 */
#ifndef LAB_CPU_H
#define LAB_CPU_H

/* CR0 */
#define CR0_PE 0x00000001
#define CR0_MP 0x00000002
#define CR0_EM 0x00000004
#define CR0_TS 0x00000008
#define CR0_ET 0x00000010
#define CR0_NE 0x00000020
#define CR0_WP 0x00010000
#define CR0_AM 0x00040000
#define CR0_PG 0x80000000

/* CR4 */
#define CR4_PAE 0x00000020
#define CR4_PGE 0x00000080
#define CR4_OSFXSR 0x00000200
#define CR4_OSXMMEXCPT 0x00000400
#define CR4_UMIP 0x00000800
#define CR4_FSGSBASE 0x00010000
#define CR4_OSXSAVE 0x00040000
#define CR4_SMEP 0x00100000
#define CR4_SMAP 0x00200000

/* RFLAGS */
#define FLAG_CF 0x00000001
#define FLAG_ONE 0x00000002
#define FLAG_TF 0x00000100
#define FLAG_IF 0x00000200
#define FLAG_DF 0x00000400
#define FLAG_IOPL 0x00003000
#define FLAG_NT 0x00004000
#define FLAG_RF 0x00010000
#define FLAG_VM 0x00020000
#define FLAG_AC 0x00040000
#define FLAG_ID 0x00200000

/* MSRs */
#define MSR_APIC_BASE 0x0000001b
#define APIC_BASE_X2APIC 0x400ul /* a bit of it: x2APIC mode is enabled */
#define MSR_SYSENTER_CS 0x00000174
#define MSR_SYSENTER_ESP 0x00000175
#define MSR_SYSENTER_EIP 0x00000176
#define MSR_EFER 0xc0000080
#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_CSTAR 0xc0000083
#define MSR_FMASK 0xc0000084
#define MSR_FS_BASE 0xc0000100
#define MSR_GS_BASE 0xc0000101
#define MSR_KERNEL_GS_BASE 0xc0000102
#define MSR_TSC_AUX 0xc0000103

#define EFER_SCE 0x001
#define EFER_LME 0x100
#define EFER_LMA 0x400
#define EFER_NXE 0x800

#ifndef __ASSEMBLER__
#include "../kernel/types.h"
#include "patch.h"

static inline void cpu_pause(void) { __asm__ volatile("pause" ::: "memory"); }
static inline void cpu_halt(void) { __asm__ volatile("hlt" ::: "memory"); }
static inline void irq_disable(void) { __asm__ volatile("cli" ::: "memory"); }
static inline void irq_enable(void) { __asm__ volatile("sti" ::: "memory"); }
/* sti holds interrupts off for one more instruction: none comes between it and hlt. */
static inline void irq_enable_and_halt(void) { __asm__ volatile("sti; hlt" ::: "memory"); }

static inline u64 read_flags(void)
{
	u64 flags;

	__asm__ volatile("pushfq; pop %0" : "=r"(flags));
	return flags;
}

static inline u64 irq_save(void)
{
	u64 flags = read_flags();

	irq_disable();
	return flags;
}

/* Mechanism `irq-restore`: popf, or a test (of bit 9, IF), a branch and sti. Prefixes without a
 * meaning make the popf as long as what may replace it: filled with a nop, the first form would
 * count one instruction more than it has. */
static inline void irq_restore(u64 flags)
{
	__asm__ volatile(ALTERNATIVE("push %0; .fill 5, 1, 0x3e; popfq",
				     "bt $9, %k0; jnc 9f; sti; 9:", 0 /* ALTERNATIVE_STI_IF */)
			 :
			 : "r"(flags)
			 : "memory", "cc");
}

static inline bool irqs_enabled(void) { return read_flags() & FLAG_IF; }

static inline u64 read_tsc(void)
{
	u32 low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (u64)high << 32 | low;
}

static inline u64 read_msr(u32 msr)
{
	u32 low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (u64)high << 32 | low;
}

static inline void write_msr(u32 msr, u64 value)
{
	__asm__ volatile("wrmsr" ::"c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

static inline u64 read_cr2(void) { u64 v; __asm__ volatile("mov %%cr2, %0" : "=r"(v)); return v; }
static inline u64 read_cr3(void) { u64 v; __asm__ volatile("mov %%cr3, %0" : "=r"(v)); return v; }
static inline u64 read_cr0(void) { u64 v; __asm__ volatile("mov %%cr0, %0" : "=r"(v)); return v; }
static inline u64 read_cr4(void) { u64 v; __asm__ volatile("mov %%cr4, %0" : "=r"(v)); return v; }
static inline void write_cr0(u64 v) { __asm__ volatile("mov %0, %%cr0" ::"r"(v) : "memory"); }
static inline void write_cr3(u64 v) { __asm__ volatile("mov %0, %%cr3" ::"r"(v) : "memory"); }
static inline void write_cr4(u64 v) { __asm__ volatile("mov %0, %%cr4" ::"r"(v) : "memory"); }
static inline void flush_page(u64 page) { __asm__ volatile("invlpg (%0)" ::"r"(page) : "memory"); }

struct cpuid { u32 a, b, c, d; };

static inline struct cpuid cpuid(u32 leaf, u32 subleaf)
{
	struct cpuid r;

	__asm__ volatile("cpuid"
			 : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

static inline void out8(u16 port, u8 value)
{
	__asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static inline void out16(u16 port, u16 value)
{
	__asm__ volatile("outw %0, %1" ::"a"(value), "Nd"(port));
}

static inline void out32(u16 port, u32 value)
{
	__asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port));
}

static inline u8 in8(u16 port)
{
	u8 v;

	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}

/* Features that the kernel uses, found once at boot (cpu.c). */
struct cpu_features {
	bool smep, smap, umip, rdtscp, rdpid;
	bool x2apic; /* not whether the CPU has it, but whether the firmware enabled it */
	bool pge, amd, hypervisor, kvm, sysenter;
};
extern struct cpu_features cpu_features;
#endif

#endif
