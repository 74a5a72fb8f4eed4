/*
 * Reports a KVM under which programs can't run. A KVM without hardware below it interprets its
 * guests, and one such was seen to do programs' calls of the kernel wrong: `syscall` stays in ring
 * 3, so that the kernel's first instruction faults as if the program had jumped there, and `int` is
 * an invalid opcode. Boot, interrupts, faults and several CPUs work.
 */
#include "x86.h"
#include "usercopy.h"
#include "../kernel/printk.h"

#define VECTOR_INVALID_OPCODE 6
#define VECTOR_PAGE_FAULT 14
#define OPCODE_INT 0xcd

static bool is_entry(u64 address)
{
	return address == (u64)entry_syscall || address == (u64)entry_syscall_compat ||
	       address == (u64)entry_sysenter;
}

void kvm_check_fault(const struct regs *regs, u64 vector, u64 address)
{
	u8 opcode = 0;

	if (!cpu_features.kvm)
		return;
	if (vector == VECTOR_INVALID_OPCODE)
		get_user_u8(&opcode, regs->rip);
	if (opcode == OPCODE_INT || (vector == VECTOR_PAGE_FAULT && is_entry(address)))
		panic("this KVM can't run programs: their system calls do not reach the kernel. "
		      "Use -accel tcg");
}
