/*
 * Which CPU am I on? Where each CPU keeps its number for programs, and getcpu(2).
 *
 * The number is cpu << node-bits | node, the encoding of Dean Gaudet's patch of January 2007. Its
 * places, by variant of `getcpu`:
 *
 *   syscall  none: the kernel is asked
 *   cpuid    none: the initial APIC id (leaf 1) is looked up in a table of the data page
 *   lsl      limit of segment 15 of the GDT, 20 bits
 *   rdtscp, rdpid   MSR_TSC_AUX, 32 bits
 *   sgdt     GDT limit: that of the real table plus the number, 16 bits
 *   sidt     IDT limit: 0x1000 plus the number, 16 bits; 256 gates end at 0xfff, so that any larger
 *            limit is as good
 *   sldt     LDT selector: an empty LDT's descriptor stands that many entries after the GDT's own
 *
 * Segment and TSC_AUX are set in every variant, as the patch kept them: a program may read them.
 *
 * What follows the GDT's own entries becomes loadable by a program that guesses a selector, so
 * a limit beyond the table must only uncover descriptors that are "not present": gdt_spare is
 * zeroes, but for the one LDT of sldt, which no program can load. See TRICKS.md, "Numbers in
 * limits".
 *
 * Whether a place has room for all numbers is checked when the command line is read, as the patch
 * checked it when built; whether the CPU has the instruction, when the choice is applied. What is
 * missing stops the boot: no other variant runs under the name that was asked for.
 *
 * Sources: Intel SDM volume 3, 3.5 (descriptor tables), 7.2.3 (LDT descriptor in 64-bit mode).
 */
#include "../kernel/variants.h"
#include "../kernel/printk.h"
#include "../kernel/syscall.h"
#include "x86.h"
#include "cpu.h"
#include "desc.h"
#include "percpu.h"
#include "usercopy.h"
#include "vdso.h"

#define LDT_PRESENT_LIMIT_0 0x0000820000000000ul /* present, privilege 0, type 2: LDT; base 0 */

_Static_assert(offsetof(struct percpu, gdt_spare) ==
	       offsetof(struct percpu, gdt) + GDT_ENTRIES * sizeof(u64), "one table");
_Static_assert(GETCPU_GDT_LIMIT == GDT_ENTRIES * sizeof(u64) - 1, "getcpu.S");
_Static_assert(GETCPU_LDT_INDEX == GDT_ENTRIES, "getcpu.S");
_Static_assert(GETCPU_SGDT_ROOM <= GDT_SPARE * sizeof(u64), "the limit stays within the spare");
_Static_assert(GETCPU_SLDT_ROOM + 1 <= GDT_SPARE, "a descriptor takes two entries");

/* ---- Whether the way that was asked for can be had. ---- */

/* How many numbers the method's place holds; 0: as many as a register. */
static u32 room(void)
{
	switch (variants.getcpu) {
	case GETCPU_LSL:
		return GETCPU_LSL_ROOM;
	case GETCPU_SIDT:
		return GETCPU_SIDT_ROOM;
	case GETCPU_SGDT:
		return GETCPU_SGDT_ROOM;
	case GETCPU_SLDT:
		return GETCPU_SLDT_ROOM;
	default:
		return 0;
	}
}

static _Noreturn void unsupported(const char *reason)
{
	printk("lab: unsupported here: getcpu=%s: %s\n", variant_name(&variants.getcpu), reason);
	machine_exit(1);
}

/*
 * The patch's range checks of 2007, made at boot. Where sidt had no room the patch took lsl; here
 * that is another variant, which is asked for by its own name.
 */
void getcpu_check_room(void)
{
	u32 numbers = variants.max_cpus << variants.node_bits;

	if (variants.getcpu_mode && variants.getcpu != GETCPU_LSL &&
	    variants.getcpu != GETCPU_RDTSCP)
		unsupported("getcpu-mode=on chooses between lsl and rdtscp");
	if (room() && numbers > room()) {
		printk("lab: unsupported here: getcpu=%s: there is room for %u numbers, and "
		       "max-cpus << node-bits is %u\n",
		       variant_name(&variants.getcpu), room(), numbers);
		machine_exit(1);
	}
}

void getcpu_check_cpu(void)
{
	bool hidden = variants.getcpu == GETCPU_SGDT || variants.getcpu == GETCPU_SIDT ||
		      variants.getcpu == GETCPU_SLDT;

	if (variants.getcpu == GETCPU_RDTSCP && !cpu_features.rdtscp)
		unsupported("the CPU has no rdtscp");
	if (variants.getcpu == GETCPU_RDPID && !cpu_features.rdpid)
		unsupported("the CPU has no rdpid");
	if (hidden && variants.umip && cpu_features.umip)
		unsupported("UMIP keeps the instruction from programs; boot with umip=off");
}

/* ---- Where each CPU keeps its number. ---- */

static u32 cpu_value(const struct percpu *cpu)
{
	return cpu->number << variants.node_bits | cpu->node;
}

static void load_gdt(const struct percpu *cpu, u16 limit)
{
	struct { u16 limit; u64 base; } __attribute__((packed)) gdtr = { limit, (u64)cpu->gdt };

	__asm__ volatile("lgdt %0" ::"m"(gdtr));
}

static void load_ldt(struct percpu *cpu, u32 value)
{
	u16 selector = (GDT_ENTRIES + value) * 8;

	cpu->gdt_spare[value] = LDT_PRESENT_LIMIT_0;
	cpu->gdt_spare[value + 1] = 0;
	load_gdt(cpu, sizeof(cpu->gdt) + sizeof(cpu->gdt_spare) - 1);
	__asm__ volatile("lldt %0" ::"r"(selector));
}

void getcpu_init_cpu(struct percpu *cpu)
{
	u32 value;

	/* Neighbouring numbers on different nodes, as firmware often has it. */
	cpu->node = cpu->number % (1u << variants.node_bits);
	value = cpu_value(cpu);
	desc_set_cpunode(cpu, value);
	if (cpu_features.rdtscp || cpu_features.rdpid)
		write_msr(MSR_TSC_AUX, value);
	vdso_set_cpu_value(cpu->apic_id, value);
	if (variants.getcpu == GETCPU_SIDT)
		desc_set_idt_limit(GETCPU_IDT_LIMIT + value);
	else if (variants.getcpu == GETCPU_SGDT)
		load_gdt(cpu, GETCPU_GDT_LIMIT + value);
	else if (variants.getcpu == GETCPU_SLDT)
		load_ldt(cpu, value);
}

/* getcpu(2); the cache argument has been unused since Linux 2.6.24, the vDSO's function uses it. */
i64 sys_getcpu(u64 cpu, u64 node, u64 cache)
{
	const struct percpu *here = this_cpu();

	if (cpu && put_user_u32(cpu, here->number))
		return -EFAULT;
	if (node && put_user_u32(node, here->node))
		return -EFAULT;
	return 0;
}
