/*
 * Softirqs: work that interrupts leave for a moment later, done with interrupts on, per CPU, before
 * whatever was interrupted goes on. Where exactly the kernel checks for it is the mechanism
 * `softirq`.
 *
 * A handler runs on the CPU that raised it, never twice at once there, but on several CPUs at once.
 * It is like an interrupt handler in what it may do: it never sleeps, touches no program's memory,
 * and takes irqsave locks only, or plain ones that all others take with softirqs disabled. The
 * kernel that it interrupted may hold any plain lock. It may raise softirqs, wake tasks and start
 * timers.
 *
 * A softirq that is raised while it is pending merges: its handler runs at least once after each
 * raise, and so has to do all work that there is.
 */
#ifndef LAB_SOFTIRQ_H
#define LAB_SOFTIRQ_H

#include "../uapi/lab.h"
#include "../x86/percpu.h"
#include "types.h"

/* `softirq` is one of LAB_HI to LAB_TASKLET. Until one is opened its handler does nothing. At boot,
 * or before the first raise. */
void open_softirq(u32 softirq, void (*handler)(void));
/* On this CPU; anywhere but under a run queue's lock. */
void raise_softirq(u32 softirq);

/* Keeps softirqs from running on this CPU; nests. Interrupts go on. The caller must not sleep. */
static inline void local_bh_disable(void)
{
	this_cpu()->softirq_disabled++;
	barrier();
}

/* Runs what came meanwhile, if the variant has it run here. Interrupts are on, or softirqs still
 * off. */
void local_bh_enable(void);

/* Runs what is pending, by turns, within bounds; leaves the rest to the CPU's thread. Interrupts
 * are off, and off again on return. For the code that checks: an interrupt's end, schedule(), … */
void softirq_run(void);
/* tick-check=off: what is pending is not for the end of this interrupt. Interrupts are off. */
void softirq_do_not_look(void);
/* WORK_SOFTIRQ of the current task: runs what is pending and clears it. Interrupts are off. */
void softirq_work(void);

void softirq_apply_variant(void);
void softirq_start_threads(void); /* ksoftirqd of each CPU online */
/* Copies records of all CPUs to a program; LAB_SOFTIRQ_TAKE. */
i64 lab_softirq_take(u64 argument);

/* softirq_test.c: the test device, and what LAB_SOFTIRQ_ARM, _RAISE and _COUNTS do. */
void softirq_test_init(void);
/* Has this CPU's test device raise `softirq` at two times (TSC), and then every `repeat` ticks;
 * NEVER and 0 for none. Interrupts are off. */
void softirq_test_arm_more(u32 softirq, u64 first, u64 second, u64 repeat);
i64 lab_softirq_arm(u64 argument);
i64 lab_softirq_raise(u64 softirq);
i64 lab_softirq_counts(u64 out);

#endif
