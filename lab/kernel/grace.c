/*
 * See grace.h. The caller runs once on every CPU. For that the CPU had to switch to it, and a CPU
 * switches only where a reader is not: TRICKS.md, "Lookups without a lock".
 *
 * It is given the highest priority meanwhile: else a program of SCHED_FIFO that never sleeps would
 * keep it waiting for ever.
 */
#include "grace.h"
#include "printk.h"
#include "sched.h"

#define PRIORITY_HIGHEST 99

static void run_on(u32 cpu)
{
	sched_set_affinity(current, 1ul << cpu);
	while (this_cpu()->number != cpu)
		schedule();
}

void grace_wait(void)
{
	struct task *task = current;
	u64 affinity = task->affinity, online = cpus_online();
	u32 policy = task->policy, priority = task->priority;

	assert(!task->mm && !task->bkl_depth); /* nobody else changes where a kernel thread runs */
	sched_set_policy(task, SCHED_FIFO, PRIORITY_HIGHEST);
	for (u32 cpu = 0; cpu < MAX_CPUS; cpu++)
		if (online >> cpu & 1)
			run_on(cpu);
	sched_set_policy(task, policy, priority);
	sched_set_affinity(task, affinity);
}
