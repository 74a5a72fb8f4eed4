/*
 * The test device: an interrupt at a time that a program sets, exact to the instruction under
 * QEMU's exact clock, whose handler raises a softirq. And two softirqs for tests: TASKLET counts
 * what is raised and what is run, HI raises itself again as often as was asked.
 *
 * Each CPU has a device. It comes by the CPU's own timer, which then has the vector VECTOR_TEST, or
 * at that CPU's device's request by an interrupt from another one. To arm a device on another CPU
 * its state is changed and the CPU interrupted, so that it sets its timer: VECTOR_TEST may always
 * find nothing due.
 */
#include "../x86/desc.h"
#include "../x86/usercopy.h"
#include "../x86/x86.h"
#include "printk.h"
#include "softirq.h"
#include "syscall.h"
#include "time.h"

#define FROM_TIMER 0
#define FROM_OTHER_CPU 1
#define DELAY_MOST (1ul << 48)
#define HLT 0xf4 /* the instruction */

static struct device {
	struct spinlock lock; /* irqsave; over the next five */
	u64 deadline;         /* TSC; NEVER if it isn't armed */
	u64 later;            /* the deadline after this one, or NEVER */
	u64 repeat;           /* ticks of the TSC from the last one to more of them, or 0 */
	u32 softirq;
	u32 target;           /* CPU that raises it */
	u32 sent;             /* bits: softirqs to raise at another CPU's interrupt */
	u32 again;            /* how often HI's handler is to raise it again */
} devices[MAX_CPUS];

static struct counts {
	u64 raised, epochs, runs, seen; /* as in struct lab_softirq_counts */
} __attribute__((aligned(64))) counts[MAX_CPUS];

/* Interrupts are off: the softirq can't run in between. */
static inline void raise_counted(struct percpu *cpu, u32 softirq)
{
	if (softirq == LAB_TASKLET) {
		counts[cpu->number].raised++;
		counts[cpu->number].epochs += !(cpu->softirq_pending >> LAB_TASKLET & 1);
	}
	raise_softirq(softirq);
}

static void count_run(void)
{
	struct counts *own = &counts[this_cpu()->number];

	own->runs++;
	own->seen = READ_ONCE(own->raised);
}

static void raise_again(void)
{
	struct device *device = &devices[this_cpu()->number];
	u32 again = __atomic_load_n(&device->again, __ATOMIC_RELAXED);

	if (again) {
		__atomic_store_n(&device->again, again - 1, __ATOMIC_RELAXED);
		raise_softirq(LAB_HI);
	}
}

static void send(u32 target, u32 softirqs)
{
	__atomic_fetch_or(&devices[target].sent, softirqs, __ATOMIC_SEQ_CST);
	apic_send(percpu[target].apic_id, VECTOR_TEST);
}

static void set_next(struct device *device)
{
	if (device->later == NEVER && device->repeat)
		device->deadline += device->repeat;
	else
		device->deadline = device->later;
	device->later = NEVER;
}

/* What this CPU's device is to raise here and now; sends what is another's. */
static u32 take_due(struct percpu *cpu, struct device *device)
{
	u32 due = __atomic_exchange_n(&device->sent, 0, __ATOMIC_SEQ_CST);
	u32 target, bit;

	spin_lock(&device->lock);
	target = device->target;
	bit = read_tsc() >= device->deadline ? 1u << device->softirq : 0;
	if (bit)
		set_next(device);
	timer_set_device(device->deadline);
	spin_unlock(&device->lock);
	if (target == cpu->number)
		due |= bit;
	else if (bit)
		send(target, bit);
	return due;
}

/* Whether the CPU slept: an interrupt ends a `hlt`, and returns behind it. */
static inline bool was_halted(const struct regs *regs)
{
	return !regs_user(regs) && ((const u8 *)regs->rip)[-1] == HLT;
}

/* Interrupt VECTOR_TEST. The raising is the last of it. */
void softirq_test_interrupt(const struct regs *regs);
void softirq_test_interrupt(const struct regs *regs)
{
	struct percpu *cpu = this_cpu();
	u32 due;

	apic_eoi();
	due = take_due(cpu, &devices[cpu->number]);
	cpu->halted = due && was_halted(regs);
	for (; due; due &= due - 1)
		raise_counted(cpu, __builtin_ctz(due));
}

/* The CPU whose timer it is: for another one's interrupt this one, if it isn't the
 * target itself. */
static u32 carrier_of(const struct lab_softirq_arm *arm, u32 here)
{
	if (arm->source == FROM_TIMER)
		return arm->cpu;
	return here != arm->cpu ? here : (here + 1) % cpu_count;
}

static bool valid(const struct lab_softirq_arm *arm)
{
	return arm->softirq < LAB_SOFTIRQS && arm->cpu < cpu_count && arm->delay < DELAY_MOST &&
	       arm->source <= FROM_OTHER_CPU && (arm->source == FROM_TIMER || cpu_count > 1);
}

i64 lab_softirq_arm(u64 argument)
{
	struct lab_softirq_arm arm;
	struct device *device;
	u32 carrier;
	u64 flags;

	if (copy_from_user(&arm, argument, sizeof(arm)))
		return -EFAULT;
	if (!valid(&arm))
		return -EINVAL;
	flags = irq_save();
	carrier = carrier_of(&arm, this_cpu()->number);
	device = &devices[carrier];
	__atomic_store_n(&devices[arm.cpu].again, arm.again, __ATOMIC_RELAXED);
	spin_lock(&device->lock);
	device->softirq = arm.softirq;
	device->target = arm.cpu;
	device->deadline = read_tsc() + arm.delay;
	device->later = NEVER;
	device->repeat = 0;
	if (carrier == this_cpu()->number)
		timer_set_device(device->deadline);
	spin_unlock(&device->lock);
	if (carrier != this_cpu()->number)
		apic_send(percpu[carrier].apic_id, VECTOR_TEST);
	irq_restore(flags);
	return 0;
}

void softirq_test_arm_more(u32 softirq, u64 first, u64 second, u64 repeat)
{
	struct percpu *cpu = this_cpu();
	struct device *device = &devices[cpu->number];

	spin_lock(&device->lock);
	device->repeat = repeat;
	device->softirq = softirq;
	device->target = cpu->number;
	device->deadline = first;
	device->later = second;
	timer_set_device(first);
	spin_unlock(&device->lock);
}

/* As code outside interrupts raises one: with softirqs disabled, so that it runs as they are
 * enabled and not in the thread. */
i64 lab_softirq_raise(u64 softirq)
{
	if (softirq >= LAB_SOFTIRQS)
		return -EINVAL;
	local_bh_disable();
	irq_disable();
	raise_counted(this_cpu(), softirq);
	irq_enable();
	local_bh_enable();
	return 0;
}

i64 lab_softirq_counts(u64 out)
{
	struct lab_softirq_counts all = { 0 };

	for (u32 i = 0; i < MAX_CPUS; i++) {
		all.cpu[i].raised = READ_ONCE(counts[i].raised);
		all.cpu[i].epochs = READ_ONCE(counts[i].epochs);
		all.cpu[i].runs = READ_ONCE(counts[i].runs);
		all.cpu[i].seen = READ_ONCE(counts[i].seen);
	}
	return copy_to_user(out, &all, sizeof(all)) ? -EFAULT : 0;
}

void softirq_test_init(void)
{
	_Static_assert(LAB_CPUS == MAX_CPUS, "struct lab_softirq_counts");
	for (u32 i = 0; i < MAX_CPUS; i++)
		devices[i].deadline = devices[i].later = percpu[i].device_deadline = NEVER;
	open_softirq(LAB_TASKLET, count_run);
	open_softirq(LAB_HI, raise_again);
}
