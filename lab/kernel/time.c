/*
 * Time: conversions, timers, the tick, sleeping.
 *
 * Each CPU has a list of timers, sorted; its hardware timer is always set to the first of them or
 * to the next tick, whichever is earlier. The tick does not stop on idle CPUs.
 *
 * Each tick raises the softirq TIMER, which nobody serves: timers are few here, and what their
 * handlers do is short, so they stay in the interrupt. With tick-check=off it raises none, and its
 * end runs none.
 *
 * A handler runs on the CPU that started the timer, in the interrupt, without the list's lock, so
 * it may start its timer again, and may wake a task that frees it: that task's timer_cancel()
 * waits until the handler is over.
 */
#include "time.h"
#include "../x86/desc.h"
#include "../x86/percpu.h"
#include "../x86/x86.h"
#include "sched.h"
#include "softirq.h"
#include "task.h"
#include "variants.h"

#define NS_PER_S 1000000000ul
#define FOR_EVER (~0ul >> 1)

u64 tsc_hz;

/* Whose handler each CPU runs now. */
static struct timer *running[MAX_CPUS];

/* Seconds and the rest apart, so that nothing overflows: tsc_hz is below 2^34. */
u64 tsc_to_ns(u64 tsc)
{
	return tsc / tsc_hz * NS_PER_S + tsc % tsc_hz * NS_PER_S / tsc_hz;
}

/* Rounded up: a timer never expires early. */
u64 ns_to_tsc(u64 ns)
{
	if (ns / NS_PER_S >= FOR_EVER / tsc_hz)
		return FOR_EVER;
	return ns / NS_PER_S * tsc_hz + (ns % NS_PER_S * tsc_hz + NS_PER_S - 1) / NS_PER_S;
}

u64 time_ns(void)
{
	return tsc_to_ns(read_tsc() - boot_tsc);
}

void timer_init(struct timer *timer, void (*expired)(struct timer *))
{
	list_init(&timer->node);
	timer->deadline = 0;
	timer->expired = expired;
	timer->cpu = 0;
}

static struct timer *first_timer(struct percpu *cpu)
{
	return list_empty(&cpu->timers) ? NULL : list_entry(cpu->timers.next, struct timer, node);
}

/* Sets this CPU's hardware timer; its timer_lock is held. */
static void set_hardware(struct percpu *cpu)
{
	struct timer *first = first_timer(cpu);

	u64 next = first ? min(first->deadline, cpu->next_tick) : cpu->next_tick;

	if (unlikely(cpu->device_deadline != NEVER)) {
		apic_timer_vector(cpu->device_deadline <= next ? VECTOR_TEST : VECTOR_TIMER);
		next = min(next, cpu->device_deadline);
	}
	apic_timer_set(next);
}

void timer_set_device(u64 deadline)
{
	struct percpu *cpu = this_cpu();

	spin_lock(&cpu->timer_lock);
	cpu->device_deadline = deadline;
	apic_timer_vector(VECTOR_TIMER);
	set_hardware(cpu);
	spin_unlock(&cpu->timer_lock);
}

void timer_start(struct timer *timer, u64 deadline)
{
	u64 flags = irq_save();
	struct percpu *cpu = this_cpu();
	struct list *place;

	spin_lock(&cpu->timer_lock);
	timer->cpu = cpu->number;
	timer->deadline = deadline;
	list_for_each(place, &cpu->timers)
		if (list_entry(place, struct timer, node)->deadline > deadline)
			break;
	list_add_before(&timer->node, place);
	if (first_timer(cpu) == timer)
		set_hardware(cpu);
	spin_unlock(&cpu->timer_lock);
	irq_restore(flags);
}

/* The hardware timer stays as it is: at worst it finds nothing to do. */
bool timer_cancel(struct timer *timer)
{
	struct percpu *cpu = &percpu[timer->cpu];
	u64 flags = spin_lock_irqsave(&cpu->timer_lock);
	bool waiting = !list_empty(&timer->node);

	list_del(&timer->node);
	spin_unlock_irqrestore(&cpu->timer_lock, flags);
	while (__atomic_load_n(&running[timer->cpu], __ATOMIC_ACQUIRE) == timer)
		cpu_pause();
	return waiting;
}

/* The first timer that is due, out of the list and noted as running; NULL if none is. */
static struct timer *take_expired(struct percpu *cpu, u64 now)
{
	struct timer *timer;

	spin_lock(&cpu->timer_lock);
	timer = first_timer(cpu);
	if (timer && timer->deadline > now)
		timer = NULL;
	if (timer)
		list_del(&timer->node);
	__atomic_store_n(&running[cpu->number], timer, __ATOMIC_RELEASE);
	spin_unlock(&cpu->timer_lock);
	return timer;
}

static void tick(struct percpu *cpu, u64 now)
{
	u64 period = tsc_hz / HZ;

	/* Ticks that were missed are not made up for, but the next keeps their beat. */
	cpu->next_tick = now + period - (cpu->next_tick ? (now - cpu->next_tick) % period : 0);
	cpu->ticks++;
	if (cpu->number == 0)
		vdso_tick();
	sched_tick();
	if (likely(variants.tick_check))
		raise_softirq(LAB_TIMER);
}

void timer_interrupt(void)
{
	struct percpu *cpu = this_cpu();
	u64 now = read_tsc();
	struct timer *timer;

	apic_eoi();
	if (now >= cpu->next_tick)
		tick(cpu, now);
	while ((timer = take_expired(cpu, now)))
		timer->expired(timer);
	if (unlikely(!variants.tick_check))
		softirq_do_not_look();
	spin_lock(&cpu->timer_lock);
	set_hardware(cpu);
	spin_unlock(&cpu->timer_lock);
}

struct sleeper {
	struct timer timer;
	struct task *task;
};

static void wake_sleeper(struct timer *timer)
{
	wake_up_task(container_of(timer, struct sleeper, timer)->task);
}

bool sleep_until(u64 deadline)
{
	struct sleeper sleeper = { .task = current };
	bool over;

	timer_init(&sleeper.timer, wake_sleeper);
	timer_start(&sleeper.timer, deadline);
	for (;;) {
		/* A full barrier, as in wait_prepare(). */
		__atomic_store_n(&current->state, TASK_SLEEPING, __ATOMIC_SEQ_CST);
		over = read_tsc() >= deadline;
		if (over || signal_pending())
			break;
		schedule();
	}
	current->state = TASK_RUNNING;
	timer_cancel(&sleeper.timer);
	return over;
}
