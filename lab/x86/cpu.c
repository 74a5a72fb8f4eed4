/*
 * The CPU's features, and the control registers and MSRs that each CPU sets at its start.
 *
 * Sources: Intel SDM volume 2 (CPUID), volume 3, 2.5 and 5.8.7 (SYSENTER), 5.8.8 (SYSCALL); AMD APM
 * volume 2, 6.1. Hypervisors' leaves: Linux, Documentation/virt/kvm/x86/cpuid.rst.
 */
#include "x86.h"
#include "desc.h"
#include "../kernel/variants.h"
#include "../kernel/printk.h"

struct cpu_features cpu_features;

static bool has(u32 leaf_register, unsigned bit)
{
	return leaf_register >> bit & 1;
}

/* Whether 12 letters of CPUID's registers spell `name`. */
static bool spells(u32 first, u32 second, u32 third, const char *name)
{
	u32 letters[3] = { first, second, third };

	return memcmp(letters, name, sizeof(letters)) == 0;
}

void cpu_detect(void)
{
	struct cpuid vendor = cpuid(0, 0), one = cpuid(1, 0), seven = { 0 };
	struct cpuid extended = cpuid(0x80000001, 0), hypervisor = { 0 };
	bool amd = spells(vendor.b, vendor.d, vendor.c, "AuthenticAMD");
	bool kvm;

	if (vendor.a >= 7)
		seven = cpuid(7, 0);
	if (has(one.c, 31))
		hypervisor = cpuid(0x40000000, 0);
	kvm = spells(hypervisor.b, hypervisor.c, hypervisor.d, "KVMKVMKVM\0\0");
	if (!has(extended.d, 20) || !has(extended.d, 11) || !has(one.d, 24))
		panic("the CPU lacks NX, SYSCALL or FXSR");
	/* A KVM that has to interpret its guest knows no clac, and stops there without a word. */
	cpu_features = (struct cpu_features){
		.smep = has(seven.b, 7),
		.smap = has(seven.b, 20) && !kvm,
		.umip = has(seven.c, 2),
		.rdtscp = has(extended.d, 27),
		.rdpid = has(seven.c, 22),
		.x2apic = read_msr(MSR_APIC_BASE) & APIC_BASE_X2APIC,
		.pge = has(one.d, 13),
		.amd = amd,
		.hypervisor = has(one.c, 31),
		.kvm = kvm,
		.sysenter = has(one.d, 11) && !amd, /* AMD's sysexit faults in long mode */
	};
}

static void control_registers_init(void)
{
	const struct cpu_features *f = &cpu_features;
	u64 cr4 = CR4_PAE | CR4_OSFXSR | CR4_OSXMMEXCPT;

	cr4 |= f->pge ? CR4_PGE : 0;
	cr4 |= f->smep ? CR4_SMEP : 0;
	cr4 |= f->smap && variants.smap ? CR4_SMAP : 0;
	cr4 |= f->umip && variants.umip ? CR4_UMIP : 0;
	write_cr0(CR0_PE | CR0_MP | CR0_ET | CR0_NE | CR0_WP | CR0_AM | CR0_PG);
	write_cr4(cr4);
}

static void syscall_init(void)
{
	write_msr(MSR_STAR, (u64)USER_CS32 << 48 | (u64)KERNEL_CS << 32);
	write_msr(MSR_LSTAR, (u64)entry_syscall);
	write_msr(MSR_CSTAR, (u64)entry_syscall_compat);
	write_msr(MSR_FMASK, flags_syscall_mask());
	if (cpu_features.sysenter) {
		/* The entry finds its stack by GS. */
		write_msr(MSR_SYSENTER_CS, KERNEL_CS);
		write_msr(MSR_SYSENTER_ESP, 0);
		write_msr(MSR_SYSENTER_EIP, (u64)entry_sysenter);
	}
}

void cpu_init(void)
{
	write_msr(MSR_EFER, read_msr(MSR_EFER) | EFER_NXE | EFER_SCE);
	control_registers_init();
	syscall_init();
}
