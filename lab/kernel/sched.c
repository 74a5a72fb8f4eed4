/*
 * The scheduler: a run queue a CPU, levels in it, the first task of the lowest level runs.
 *
 * Whose is what: a run queue's lock covers its lists, and `state`, `cpu`, `on_cpu`, `queued`,
 * `level` and `affinity` of the tasks that belong to it, that is whose `cpu` it is; but a task
 * sets its own state to sleep without it. The lock is held across the switch: the next task lets
 * go of it. A task that is runnable, on no queue and on no CPU belongs to the code that took it
 * from there, until that code has put it where its affinity lets it run (place()).
 *
 * The idle tasks are ordinary ones in the last level, so a next one is always found.
 *
 * Sources: xv6-riscv kernel/proc.c (locks across the switch), Linux kernel/sched/core.c (on_cpu,
 * the wake-up of a task about to sleep). TRICKS.md, "Switching on one's own stack" and "Lost
 * wake-ups".
 */
#include "sched.h"
#include "../x86/context.h"
#include "../x86/fpu.h"
#include "../x86/patch.h"
#include "../x86/percpu.h"
#include "../x86/x86.h"
#include "page.h"
#include "variants.h"
#include "printk.h"
#include "softirq.h"
#include "syscall.h"

#define LEVEL_IDLE 100
#define SLICE_TICKS 5 /* 20 ms at 250 Hz */
#define LEVELS_PER_WORD 64
#define PRIORITY_MOST 99

static struct task idle_tasks[MAX_CPUS];
static struct fpu_state idle_fpu[MAX_CPUS];

static inline bool may_run(const struct task *task, const struct percpu *cpu)
{
	return task->affinity >> cpu->number & 1;
}

/* ---- The queue; its lock is held. ---- */

static inline u64 best_level(const struct runqueue *rq)
{
	if (rq->ready[0])
		return (u32)__builtin_ctzl(rq->ready[0]);
	return LEVELS_PER_WORD + (u32)__builtin_ctzl(rq->ready[1]);
}

static inline void insert(struct runqueue *rq, struct task *task, bool to_end)
{
	struct list *level = &rq->level[task->level];

	list_add_before(&task->run, to_end ? level : level->next);
	rq->ready[task->level / LEVELS_PER_WORD] |= 1ul << task->level % LEVELS_PER_WORD;
	task->queued = true;
}

static inline void remove(struct runqueue *rq, struct task *task)
{
	struct list *level = &rq->level[task->level];

	task->run.prev->next = task->run.next;
	task->run.next->prev = task->run.prev;
	task->queued = false;
	if (level->next == level)
		rq->ready[task->level / LEVELS_PER_WORD] &= ~(1ul << task->level % LEVELS_PER_WORD);
}

/* Makes the CPU check for a better task soon. An interrupt that is on its way already will do. */
static void ask_to_reschedule(struct percpu *cpu)
{
	u32 before = __atomic_fetch_or(&cpu->task->work, WORK_RESCHEDULE, __ATOMIC_SEQ_CST);

	if (!(before & WORK_RESCHEDULE) && cpu != this_cpu())
		smp_call_reschedule(cpu->number);
}

static void enqueue(struct percpu *cpu, struct task *task)
{
	insert(&cpu->rq, task, true);
	cpu->rq.count++;
	if (task->level < cpu->task->level)
		ask_to_reschedule(cpu);
}

static void dequeue(struct percpu *cpu, struct task *task)
{
	remove(&cpu->rq, task);
	cpu->rq.count--;
}

/* The CPU with the fewest runnable tasks among those that the task may use; this one if it is no
 * worse. A look without locks: the answer is a good guess. */
static struct percpu *choose_cpu(const struct task *task)
{
	struct percpu *best = may_run(task, this_cpu()) ? this_cpu() : NULL;

	for (struct percpu *cpu = percpu; cpu < &percpu[MAX_CPUS]; cpu++) {
		if (!READ_ONCE(cpu->online) || !may_run(task, cpu))
			continue;
		if (!best || READ_ONCE(cpu->rq.count) < READ_ONCE(best->rq.count))
			best = cpu;
	}
	return best;
}

/*
 * Puts a runnable task that is on no queue and on no CPU onto a queue. Its CPU's is locked; on
 * return that of the CPU where it went is, which is the result. The affinity may change
 * while neither is.
 */
static struct percpu *place(struct percpu *cpu, struct task *task)
{
	while (unlikely(!may_run(task, cpu))) {
		struct percpu *other = choose_cpu(task);

		task->cpu = other->number;
		spin_unlock(&cpu->rq.lock);
		spin_lock(&other->rq.lock);
		cpu = other;
	}
	enqueue(cpu, task);
	return cpu;
}

/* Locks the queue of the CPU that the task belongs to; interrupts are off. */
static struct percpu *lock_cpu_of(const struct task *task)
{
	for (;;) {
		struct percpu *cpu = &percpu[READ_ONCE(task->cpu)];

		spin_lock(&cpu->rq.lock);
		if (likely(cpu->number == READ_ONCE(task->cpu)))
			return cpu;
		spin_unlock(&cpu->rq.lock);
	}
}

/* ---- The switch. ---- */

/* Called by switch.S in place of its return: on the next task's stack, so `prev` may be freed. */
void finish_switch(struct task *prev)
{
	struct percpu *cpu = this_cpu();
	u32 state = prev->state;

	__atomic_store_n(&prev->on_cpu, false, __ATOMIC_RELEASE);
	if (state == TASK_RUNNING && unlikely(!prev->queued))
		cpu = place(cpu, prev); /* its affinity forbids this CPU */
	spin_unlock(&cpu->rq.lock);
	if (unlikely(state == TASK_DEAD))
		task_free(prev);
}

/* Returns when prev runs again, maybe on another CPU; finish_switch() has let go of the run
 * queue. */
static inline void switch_to(struct percpu *cpu, struct task *prev, struct task *next)
{
	cpu->task = next;
	next->on_cpu = true;
	if (next->mm != cpu->active_mm)
		mm_switch(cpu, next->mm);
	switch_cpu_state(cpu, prev, next);
	if (unlikely((u64)prev->io_bitmap | (u64)next->io_bitmap))
		static_call(iobitmap_switch, prev, next);
	static_call(switch_plain, prev, next);
}

static inline struct task *take_first(struct runqueue *rq, u64 level)
{
	struct task *task = list_entry(rq->level[level].next, struct task, run);

	remove(rq, task);
	return task;
}

/* prev, which runs, goes to its own level's end and the first one comes off: the level stays as
 * inhabited as it was. */
static inline struct task *rotate(struct runqueue *rq, struct task *prev, u64 own_level)
{
	struct list *level = &rq->level[own_level], *first = level->next;
	struct task *next = list_entry(first, struct task, run);

	level->next = first->next;
	level->next->prev = level;
	list_add_before(&prev->run, level);
	next->queued = false;
	prev->queued = true;
	return next;
}

/* Why a task was asked to reschedule; 0: for a better one, if it is still there. */
#define ASKED_TO_LEAVE 1u /* its affinity forbids this CPU */
#define SLICE_IS_OVER 2u

/* Neither comes without a request, so only then need they be looked at. */
static __attribute__((noinline)) u32 take_request(const struct percpu *cpu, struct task *task)
{
	u32 why = may_run(task, cpu) ? 0 : ASKED_TO_LEAVE;

	__atomic_fetch_and(&task->work, ~WORK_RESCHEDULE, __ATOMIC_RELAXED);
	if (!task->slice) {
		task->slice = SLICE_TICKS;
		why |= SLICE_IS_OVER;
	}
	return why;
}

static void give_way(bool to_end);

/* softirq=syscall-return and irq-return look here, so that no note is left to the next task.
 * Interrupts stay off after it: there is none when give_way() looks again. */
static __attribute__((noinline)) void give_way_after_softirqs(struct percpu *cpu, bool to_end)
{
	spin_unlock(&cpu->rq.lock);
	softirq_work();
	give_way(to_end);
}

/*
 * Gives the CPU to a better task or, with `to_end`, to one as good; returns at once if there is
 * none. One that sleeps or died, or may not stay on this CPU, gives way to any.
 *
 * Interrupts are on when it is called, so cli and sti do. To save and restore the flags here would
 * also undo what another task left in them, and so hide what `flags=iopl-only` is there to show.
 */
static void give_way(bool to_end)
{
	u64 best;
	struct percpu *cpu;
	struct runqueue *rq;
	struct task *prev = current;
	bool leaves;

	irq_disable();
	cpu = this_cpu();
	rq = &cpu->rq;
	spin_lock(&rq->lock);
	leaves = prev->state != TASK_RUNNING;
	if (unlikely(prev->work & (WORK_RESCHEDULE | WORK_SOFTIRQ))) {
		u32 why;

		/* Read anew: one load less without work. */
		if (READ_ONCE(prev->work) & WORK_SOFTIRQ) {
			give_way_after_softirqs(cpu, to_end);
			return;
		}
		why = take_request(cpu, prev);
		leaves |= why & ASKED_TO_LEAVE; /* finish_switch() places it elsewhere */
		to_end |= !!(why & SLICE_IS_OVER);
	}
	best = best_level(rq);
	if (leaves) {
		rq->count--;
		*(prev->state == TASK_RUNNING ? &prev->involuntary : &prev->voluntary) += 1;
	} else if (best > prev->level || (best == prev->level && !to_end)) {
		spin_unlock(&rq->lock);
		irq_enable();
		return;
	} else {
		prev->involuntary++;
		insert(rq, prev, to_end);
	}
	switch_to(cpu, prev, take_first(rq, best));
	irq_enable();
}

void schedule_plain(void)
{
	assert_no_spinlock();
	give_way(false);
}

/* give_way(true), but for what nearly always happens: somebody is as good, or nobody is. */
void sched_yield(void)
{
	u64 best;
	struct percpu *cpu;
	struct runqueue *rq;
	struct task *prev = current;

	irq_disable();
	cpu = this_cpu();
	rq = &cpu->rq;
	spin_lock(&rq->lock);
	best = best_level(rq);
	if (unlikely(best < prev->level ||
		     prev->work & (WORK_RESCHEDULE | WORK_SOFTIRQ))) {
		spin_unlock(&rq->lock);
		irq_enable();
		give_way(true);
		return;
	}
	if (best == prev->level) {
		prev->involuntary++;
		switch_to(cpu, prev, rotate(rq, prev, best));
	} else {
		spin_unlock(&rq->lock);
	}
	irq_enable();
}

bool wake_up_task(struct task *task)
{
	u64 flags = irq_save();
	struct percpu *cpu = lock_cpu_of(task);
	u32 state = READ_ONCE(task->state);
	bool sleeps = state == TASK_SLEEPING || state == TASK_UNINTERRUPTIBLE;

	/* Exchanged, not stored: it may be going to die, or change its mind, right now. */
	if (sleeps)
		sleeps = __atomic_compare_exchange_n(&task->state, &state, TASK_RUNNING, false,
						     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	/* On its CPU it has not given way yet, and will find that it is runnable. */
	if (sleeps && !task->on_cpu)
		cpu = place(cpu, task);
	spin_unlock_irqrestore(&cpu->rq.lock, flags);
	return sleeps;
}

/* ---- New tasks, and changes of how and where a task runs. ---- */

void sched_add_new(struct task *task)
{
	u64 flags = irq_save();
	struct percpu *cpu = lock_cpu_of(task), *best = choose_cpu(task);

	task->slice = SLICE_TICKS;
	task->cpu = best->number;
	spin_unlock(&cpu->rq.lock);
	spin_lock(&best->rq.lock);
	cpu = place(best, task);
	spin_unlock_irqrestore(&cpu->rq.lock, flags);
}

i64 sched_set_policy(struct task *task, u32 policy, u32 priority)
{
	bool fifo = policy == SCHED_FIFO, queued, better;
	struct percpu *cpu;
	u64 flags;

	if (fifo ? priority < 1 || priority > PRIORITY_MOST : policy != SCHED_OTHER || priority)
		return -EINVAL;
	flags = irq_save();
	cpu = lock_cpu_of(task);
	queued = task->queued;
	if (queued)
		remove(&cpu->rq, task);
	task->policy = policy;
	task->priority = priority;
	task->level = fifo ? PRIORITY_MOST - priority : LEVEL_OTHER;
	task->slice = SLICE_TICKS;
	if (queued)
		insert(&cpu->rq, task, true);
	better = best_level(&cpu->rq) < cpu->task->level;
	if (better)
		ask_to_reschedule(cpu);
	spin_unlock_irqrestore(&cpu->rq.lock, flags);
	return 0;
}

u64 cpus_online(void)
{
	u64 mask = 0;

	for (u32 i = 0; i < MAX_CPUS; i++)
		mask |= (u64)READ_ONCE(percpu[i].online) << i;
	return mask;
}

/* A task that runs where it may not any more leaves on its way to user mode, or as it sleeps. */
i64 sched_set_affinity(struct task *task, u64 mask)
{
	struct percpu *cpu;
	u64 flags;

	mask &= cpus_online();
	if (!mask)
		return -EINVAL;
	flags = irq_save();
	cpu = lock_cpu_of(task);
	task->affinity = mask;
	if (!may_run(task, cpu) && task->queued) {
		dequeue(cpu, task);
		cpu = place(cpu, task);
	} else if (!may_run(task, cpu) && task->on_cpu) {
		ask_to_reschedule(cpu);
	}
	spin_unlock_irqrestore(&cpu->rq.lock, flags);
	return 0;
}

void sched_tick(void)
{
	struct task *task = current;

	if (task->kstack && *(u64 *)task->kstack != KSTACK_MAGIC)
		panic("the kernel stack of %s overflowed", task->name);
	if (task->level == LEVEL_OTHER && task->slice && --task->slice == 0)
		__atomic_fetch_or(&task->work, WORK_RESCHEDULE, __ATOMIC_RELAXED);
}

/* ---- A CPU's start, and its idle task: what the CPU ran since its start. ---- */

static void idle_init(struct percpu *cpu)
{
	struct task *idle = &idle_tasks[cpu->number];

	*idle = (struct task){
		.state = TASK_RUNNING,
		.kstack_top = cpu->kstack,
		.fpu = &idle_fpu[cpu->number],
		.level = LEVEL_IDLE,
		.affinity = 1ul << cpu->number,
		.cpu = cpu->number,
		.on_cpu = true,
		.slice = SLICE_TICKS,
	};
	list_init(&idle->run);
	list_init(&idle->wait);
	snprintf(idle->name, sizeof(idle->name), "idle/%u", cpu->number);
	cpu->idle = cpu->task = idle;
}

void sched_init_cpu(struct percpu *cpu)
{
	for (unsigned i = 0; i < LEVELS; i++)
		list_init(&cpu->rq.level[i]);
	/* The last level always seems to have a task, so that best_level() always finds one. */
	cpu->rq.ready[LEVELS / LEVELS_PER_WORD - 1] = 1ul << (LEVELS_PER_WORD - 1);
	list_init(&cpu->timers);
	idle_init(cpu);
}

/* Mechanisms `idle` and `idle-check`. Without the check pending softirqs (softirq.c) are
 * only seen when the next task is chosen: 2.4.5's idle loops. */
static _Noreturn void idle_by_hlt(const u32 reasons)
{
	for (;;) {
		irq_disable();
		if (READ_ONCE(current->work) & reasons) {
			irq_enable();
			schedule();
		} else {
			irq_enable_and_halt(); /* an interrupt in between ends the hlt */
		}
	}
}

/* idle-check=early: a correct check at a wrong place. What an interrupt raises after it, while
 * interrupts are still on, is not seen before the CPU sleeps. */
static _Noreturn void idle_by_hlt_checked_early(void)
{
	for (;;) {
		irq_enable();
		if (READ_ONCE(current->work) & WORK_SOFTIRQ)
			schedule();
		irq_disable();
		if (READ_ONCE(current->work) & WORK_RESCHEDULE) {
			irq_enable();
			schedule();
		} else {
			irq_enable_and_halt();
		}
	}
}

/* The nops stand for `pause`, which takes 10 to 140 clocks, by the processor (Intel's optimization
 * manual, "Pause Latency in Skylake"). At `pause` itself QEMU would leave its translated code. */
static _Noreturn void idle_by_poll(const u32 reasons)
{
	for (;;) {
		while (!(READ_ONCE(current->work) & reasons))
			asm volatile(".fill 64, 1, 0x90");
		schedule();
	}
}

_Noreturn void idle_loop(void)
{
	const u32 reasons = WORK_RESCHEDULE | (variants.idle_check ? WORK_SOFTIRQ : 0);

	apic_timer_set(0); /* the first tick, at once; it sets the next */
	if (variants.idle == IDLE_HLT && variants.idle_check == IDLE_CHECK_EARLY)
		idle_by_hlt_checked_early();
	if (variants.idle == IDLE_HLT)
		idle_by_hlt(reasons);
	irq_enable();
	idle_by_poll(reasons);
}
