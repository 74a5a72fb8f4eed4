/*
 * Scheduling: a run queue a CPU, fixed priorities, round robin within SCHED_OTHER, no balancing but
 * at fork. A task runs on its CPU until its affinity forbids it.
 *
 * The switch itself is chosen at boot (mechanism `flags`), and so is its work on I/O bitmaps.
 */
#ifndef LAB_SCHED_H
#define LAB_SCHED_H

#include "../x86/patch.h"
#include "task.h"

struct wait_queue {
	struct spinlock lock; /* irqsave */
	struct list waiters;  /* task->wait */
};

#define WAIT_QUEUE_INIT(name) { SPINLOCK_INIT, LIST_INIT((name).waiters) }

void sched_init_cpu(struct percpu *cpu);
/* The key of schedule(), to be called as such only by what takes its place. */
void schedule_plain(void);
/* Gives the CPU to the best runnable task; the caller set its own state. Interrupts may be on. */
static inline void schedule(void)
{
	static_call0(schedule_plain);
}
void sched_yield(void);
/* Makes it runnable, if it sleeps; true if it did. Safe in interrupts. */
bool wake_up_task(struct task *task);
void sched_add_new(struct task *task);           /* first time; chooses the CPU */
void sched_tick(void);                           /* from the timer interrupt */
i64 sched_set_policy(struct task *task, u32 policy, u32 priority);
i64 sched_set_affinity(struct task *task, u64 mask);
u64 cpus_online(void);                           /* as an affinity mask */
/* On the next task's stack, at the end of the switch: lets go of the run queue, frees the dead. */
void finish_switch(struct task *prev);
_Noreturn void idle_loop(void);

void wait_queue_init(struct wait_queue *queue);
/*
 * Sleeping for a condition:
 *
 *	wait_prepare(&queue);            (state is TASK_SLEEPING, and we are in the queue)
 *	while (!condition && !signal_pending()) { unlock; schedule(); lock; wait_prepare(&queue); }
 *	wait_finish(&queue);
 *
 * The condition is looked at after the preparing, so a wake-up in between is not lost.
 */
void wait_prepare(struct wait_queue *queue);
void wait_finish(struct wait_queue *queue);
void wake_up_all(struct wait_queue *queue);

/* In switch.S, one for each variant of `flags`; they end in finish_switch(). */
void switch_save(struct task *prev, struct task *next);
void switch_constant(struct task *prev, struct task *next);
void switch_iopl_only(struct task *prev, struct task *next);
void switch_plain(struct task *prev, struct task *next);

#endif
