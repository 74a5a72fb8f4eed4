/*
 * Softirqs: raising them, running them by turns, the thread for what is too much, and the records.
 *
 * As one is raised, it is noted which code has to check for it, so that no other code pays for the
 * check (mechanism `softirq`):
 *
 *                   note                          is seen by
 *   syscall-return  WORK_SOFTIRQ of the current   return from system calls and exceptions,
 *                   task; from the tick also      schedule(), the end of the tick
 *                   percpu->softirq_look
 *   irq-once        the same; from interrupts     the same, and once the end of an interrupt
 *                   also softirq_look
 *   irq-return      as syscall-return             the same as syscall-return, and every
 *                                                 interrupt's return to user mode
 *   irq-exit        softirq_look; from outside    the end of any interrupt, local_bh_enable();
 *                   interrupts wakes the thread   the thread
 *   thread          wakes the thread              the thread
 *
 * syscall-return is Linux 2.4.5 as the thread of May 2001 describes it, and how its entry code left
 * interrupts of the local APIC. irq-once is how its do_IRQ() left all others, the timer's among
 * them: it looked at its end, and do_softirq() ran each softirq once and left what was raised again
 * meanwhile. irq-return is the thread's fix; the other half of that is the mechanism `idle-check`.
 * None of these had a thread: here the limit below goes for them, too.
 *
 * Nothing has a lock: pending bits, stamps and notes are the CPU's own, changed with interrupts
 * off. TRICKS.md, "Softirqs", argues why none is lost.
 *
 * Sources: Linux kernel/softirq.c (2.4.0, and 6.1: MAX_SOFTIRQ_RESTART, MAX_SOFTIRQ_TIME),
 * arch/i386/kernel/apic.c (2.4.0), arch/i386/kernel/entry.S (2.4.5, by the thread's patch);
 * do_softirq() of 2.4.5 as Andrea Arcangeli quotes it, linux-kernel, 2001-05-27, message-id
 * 20010527195619.K676@athlon.random.
 */
#include "softirq.h"
#include "../x86/patch.h"
#include "../x86/usercopy.h"
#include "../x86/x86.h"
#include "variants.h"
#include "printk.h"
#include "sched.h"
#include "syscall.h"

#define ROUNDS_MOST 10
#define TIME_MOST (tsc_hz / 500) /* 2 ms */
#define RECORDS 1024             /* a CPU; a power of two */

_Static_assert(LAB_SOFTIRQS == SOFTIRQS, "percpu.h");

static void nothing(void)
{
}

static void (*handlers[LAB_SOFTIRQS])(void) = { nothing, nothing, nothing, nothing, nothing };

void open_softirq(u32 softirq, void (*handler)(void))
{
	handlers[softirq] = handler;
}

/* ---- Raising. ---- */

static void wake_thread(struct percpu *cpu)
{
	if (likely(cpu->ksoftirqd))
		wake_up_task(cpu->ksoftirqd);
}

/* Key of a static call: notes which code has to check. Interrupts are off. For irq-exit. */
void softirq_note(struct percpu *cpu, u64 softirq);
void softirq_note(struct percpu *cpu, u64 softirq)
{
	cpu->softirq_look = 1;
	if (!cpu->irq_context && !cpu->softirq_disabled)
		wake_thread(cpu);
}

/* syscall-return and irq-return. Only the tick raises TIMER. */
static void note_as_work(struct percpu *cpu, u64 softirq)
{
	__atomic_fetch_or(&cpu->task->work, WORK_SOFTIRQ, __ATOMIC_RELAXED);
	if (softirq == LAB_TIMER)
		cpu->softirq_look = 1;
}

/* irq-once. Raised by a softirq itself, it is left as it is: no interrupt ends then. */
static void note_for_once(struct percpu *cpu, u64 softirq)
{
	note_as_work(cpu, softirq);
	if (cpu->irq_context)
		cpu->softirq_look = 1;
}

static void note_for_thread(struct percpu *cpu, u64 softirq)
{
	wake_thread(cpu);
}

static u32 interrupted(struct percpu *cpu)
{
	bool halted = cpu->halted;

	cpu->halted = false;
	if (cpu->irq_context == IRQ_FROM_USER)
		return LAB_IN_USER;
	if (cpu->task != cpu->idle || cpu->softirq_disabled)
		return LAB_IN_KERNEL;
	return halted ? LAB_IN_HALT : LAB_IN_IDLE;
}

void raise_softirq(u32 softirq)
{
	u64 flags = irq_save();
	struct percpu *cpu = this_cpu();
	u32 context = interrupted(cpu);

	if (!(cpu->softirq_pending >> softirq & 1)) {
		struct softirq_raise *raise = &cpu->softirq_raises[cpu->softirq_bank][softirq];

		raise->context = context;
		raise->at = read_tsc();
		cpu->softirq_pending |= 1u << softirq;
	}
	static_call(softirq_note, cpu, softirq);
	irq_restore(flags);
}

/* ---- Records: of each CPU the last RECORDS runs. ---- */

/*
 * Only the CPU writes, softirqs don't nest, so a record needs no lock. A reader on another CPU
 * copies a record, then checks whether it has been overwritten meanwhile: the CPU fills the place
 * of record `head` before it counts it.
 */
static struct ring {
	u64 head;  /* records ever written */
	u64 taken; /* of these, read or lost; under take_lock */
	struct lab_softirq_record records[RECORDS];
} rings[MAX_CPUS];

static struct spinlock take_lock; /* plain, held over copies to programs */

static inline void record(const struct percpu *cpu, u32 softirq, u64 entered)
{
	const struct softirq_raise *raise = &cpu->softirq_raises[cpu->softirq_bank ^ 1][softirq];
	struct ring *ring = &rings[cpu->number];
	u64 head = ring->head;
	struct lab_softirq_record *next = &ring->records[head % RECORDS];

	next->raised = raise->at;
	next->entered = entered;
	next->softirq = softirq;
	next->cpu = cpu->number;
	next->context = raise->context;
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

/* The oldest record that is still there, counting lost ones; false if there is none. */
static bool take_one(struct ring *ring, struct lab_softirq_record *out, u64 *lost)
{
	u64 head;

	while ((head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE)) != ring->taken) {
		if (head - ring->taken < RECORDS) {
			*out = ring->records[ring->taken % RECORDS];
			/* x86 keeps loads in order: this one comes after the copy's. */
			barrier();
			head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
			if (head - ring->taken < RECORDS)
				return true;
		}
		*lost += head - ring->taken - (RECORDS - 1);
		ring->taken = head - (RECORDS - 1);
	}
	return false;
}

/* Fills the program's array; 0 or -EFAULT. What could not be copied stays. */
static i64 take_all(struct lab_softirq_take *take)
{
	struct lab_softirq_record one;

	for (struct ring *ring = rings; ring < &rings[MAX_CPUS]; ring++) {
		while (take->count < take->capacity && take_one(ring, &one, &take->lost)) {
			if (copy_to_user(take->records + take->count * sizeof(one), &one,
					 sizeof(one)))
				return -EFAULT;
			take->count++;
			ring->taken++;
		}
	}
	return 0;
}

i64 lab_softirq_take(u64 argument)
{
	struct lab_softirq_take take;
	i64 result;

	if (copy_from_user(&take, argument, sizeof(take)))
		return -EFAULT;
	take.count = 0;
	take.lost = 0;
	spin_lock(&take_lock);
	result = take_all(&take);
	spin_unlock(&take_lock);
	if (!result && copy_to_user(argument, &take, sizeof(take)))
		return -EFAULT;
	return result;
}

/* ---- Running. ---- */

/* Those taken, in order. Returns when the last was entered. The record is written after the
 * handler, so that it adds nothing to what it tells: only the rest of the first stamp does, four
 * instructions. */
static inline u64 run_taken(struct percpu *cpu, u32 pending)
{
	u64 entered;

	/* What is raised from now on has the other bank's stamps, and the next round. */
	cpu->softirq_look = 0;
	cpu->softirq_bank ^= 1;
	irq_enable();
	do {
		u32 softirq = __builtin_ctz(pending);

		entered = read_tsc();
		handlers[softirq]();
		record(cpu, softirq, entered);
		pending &= pending - 1;
	} while (pending);
	irq_disable();
	return entered;
}

/* All that are pending now. */
static inline u64 run_round(struct percpu *cpu)
{
	u32 pending = cpu->softirq_pending;

	cpu->softirq_pending = 0;
	return run_taken(cpu, pending);
}

void softirq_run(void)
{
	struct percpu *cpu = this_cpu();
	u32 rounds = 1;
	u64 first;

	if (cpu->softirq_disabled || !cpu->softirq_pending)
		return;
	cpu->softirq_disabled = 1;
	first = run_round(cpu);
	while (unlikely(cpu->softirq_pending)) {
		if (rounds++ == ROUNDS_MOST || read_tsc() - first > TIME_MOST) {
			wake_thread(cpu);
			break;
		}
		run_round(cpu);
	}
	cpu->softirq_disabled = 0;
}

/* Those pending that are left where they are keep their stamps: in the bank that takes them. */
static void keep_stamps(struct percpu *cpu)
{
	u32 bank = cpu->softirq_bank;

	for (u32 left = cpu->softirq_pending; left; left &= left - 1) {
		u32 softirq = __builtin_ctz(left);

		cpu->softirq_raises[bank ^ 1][softirq] = cpu->softirq_raises[bank][softirq];
	}
}

/* irq-once, the end of an interrupt: each softirq once. What was raised again meanwhile stays
 * pending, and nobody is told. */
static void softirq_run_once(void)
{
	struct percpu *cpu = this_cpu();
	u32 fresh = ~0u, now;

	if (cpu->softirq_disabled)
		return;
	cpu->softirq_disabled = 1;
	while ((now = cpu->softirq_pending & fresh)) {
		fresh &= ~now;
		cpu->softirq_pending &= ~now;
		keep_stamps(cpu);
		run_taken(cpu, now);
	}
	cpu->softirq_disabled = 0;
	if (!cpu->softirq_pending)
		__atomic_fetch_and(&cpu->task->work, ~WORK_SOFTIRQ, __ATOMIC_RELAXED);
}

/* Of irq-exit's checks none is taken away: local_bh_enable() relies on its note. */
void softirq_do_not_look(void)
{
	if (variants.softirq == SOFTIRQ_IRQ_ONCE)
		this_cpu()->softirq_look = 0;
}

void softirq_work(void)
{
	softirq_run();
	/* What is still pending is the thread's, which was woken. */
	__atomic_fetch_and(&current->work, ~WORK_SOFTIRQ, __ATOMIC_RELAXED);
}

void local_bh_enable(void)
{
	struct percpu *cpu = this_cpu();

	barrier();
	if (--cpu->softirq_disabled == 0 && READ_ONCE(cpu->softirq_look)) {
		assert(irqs_enabled());
		irq_disable();
		softirq_run();
		irq_enable();
	}
}

/* ---- The thread of each CPU: an ordinary task, so that a flood leaves others turns. ---- */

static void ksoftirqd(void *unused)
{
	struct percpu *cpu = this_cpu();

	for (;;) {
		/* A raise on this CPU comes before the look, or wakes us: see wait_prepare(). */
		__atomic_store_n(&current->state, TASK_SLEEPING, __ATOMIC_SEQ_CST);
		if (READ_ONCE(cpu->softirq_pending))
			current->state = TASK_RUNNING;
		schedule();
		irq_disable();
		softirq_work();
		irq_enable();
	}
}

void softirq_start_threads(void)
{
	for (u32 i = 0; i < cpu_count; i++) {
		struct task *task;
		char name[16];

		snprintf(name, sizeof(name), "ksoftirqd/%u", i);
		task = task_create_kernel(name, ksoftirqd, NULL);
		if (!task)
			panic("no memory for %s", name);
		task->affinity = 1ul << i;
		sched_add_new(task);
		/* Until now raises woke nobody; the thread's first look finds what is pending. */
		WRITE_ONCE(percpu[i].ksoftirqd, task);
	}
}

void softirq_apply_variant(void)
{
	static void (*const notes[])(struct percpu *, u64) = {
		[SOFTIRQ_SYSCALL_RETURN] = note_as_work,
		[SOFTIRQ_IRQ_ONCE] = note_for_once,
		[SOFTIRQ_IRQ_RETURN] = note_as_work,
		[SOFTIRQ_IRQ_EXIT] = softirq_note,
		[SOFTIRQ_THREAD] = note_for_thread,
	};

	static_call_patch(softirq_note, notes[variants.softirq]);
	if (variants.softirq == SOFTIRQ_SYSCALL_RETURN || variants.softirq == SOFTIRQ_IRQ_ONCE)
		static_call_patch(exit_work, exit_work_but_softirqs);
	if (variants.softirq == SOFTIRQ_IRQ_ONCE)
		static_call_patch(softirq_run, softirq_run_once);
}
