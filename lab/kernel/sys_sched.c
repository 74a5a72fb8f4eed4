/* System calls about scheduling: sched(7). A pid of 0 is the caller; each thread has its own. */
#include "../x86/usercopy.h"
#include "process.h"
#include "sched.h"
#include "syscall.h"
#include "syscalls.h"

#define PRIORITY_LOWEST 1
#define PRIORITY_HIGHEST 99

i64 sys_sched_yield(void)
{
	sched_yield();
	return 0;
}

/* The task of that number, tasks_lock taken; *flags is to be restored. */
static struct task *lock_task(u64 pid, u64 *flags)
{
	*flags = spin_lock_irqsave(&tasks_lock);
	return (u32)pid ? task_find(pid) : current;
}

i64 sys_sched_setscheduler(u64 pid, u64 policy, u64 parameter)
{
	struct task *task;
	u32 priority;
	u64 flags;
	i64 result;

	if ((i32)pid < 0 || !parameter)
		return -EINVAL;
	if (get_user_u32(&priority, parameter))
		return -EFAULT;
	task = lock_task(pid, &flags);
	result = task ? sched_set_policy(task, policy, priority) : -ESRCH;
	spin_unlock_irqrestore(&tasks_lock, flags);
	return result;
}

i64 sys_sched_setparam(u64 pid, u64 parameter)
{
	i64 policy = sys_sched_getscheduler(pid);

	return policy < 0 ? policy : sys_sched_setscheduler(pid, policy, parameter);
}

i64 sys_sched_getscheduler(u64 pid)
{
	struct task *task;
	u64 flags;
	i64 result;

	if ((i32)pid < 0)
		return -EINVAL;
	task = lock_task(pid, &flags);
	result = task ? (i64)task->policy : -ESRCH;
	spin_unlock_irqrestore(&tasks_lock, flags);
	return result;
}

i64 sys_sched_getparam(u64 pid, u64 parameter)
{
	struct task *task;
	i64 priority;
	u64 flags;

	if ((i32)pid < 0 || !parameter)
		return -EINVAL;
	task = lock_task(pid, &flags);
	priority = task ? (i64)task->priority : -ESRCH;
	spin_unlock_irqrestore(&tasks_lock, flags);
	return priority < 0 ? priority : put_user_u32(parameter, priority);
}

static i64 priority_bound(u64 policy, i64 of_fifo)
{
	if ((u32)policy == SCHED_FIFO)
		return of_fifo;
	return (u32)policy == SCHED_OTHER ? 0 : -EINVAL;
}

i64 sys_sched_get_priority_max(u64 policy)
{
	return priority_bound(policy, PRIORITY_HIGHEST);
}

i64 sys_sched_get_priority_min(u64 policy)
{
	return priority_bound(policy, PRIORITY_LOWEST);
}

static i64 set_affinity(u64 pid, u64 mask)
{
	u64 flags;
	struct task *task = lock_task(pid, &flags);
	i64 result = task ? sched_set_affinity(task, mask) : -ESRCH;

	spin_unlock_irqrestore(&tasks_lock, flags);
	return result;
}

/* Masks are as long as the caller gives; of one longer than needed the rest has no meaning. */
i64 sys_sched_setaffinity(u64 pid, u64 size, u64 mask)
{
	u64 wanted = 0;

	if (copy_from_user(&wanted, mask, min((u64)(u32)size, sizeof(wanted))))
		return -EFAULT;
	return set_affinity(pid, wanted);
}

i64 sys_sched_getaffinity(u64 pid, u64 size, u64 mask)
{
	u64 flags, wanted = 0;
	struct task *task;

	if ((u32)size < sizeof(wanted) || (u32)size % sizeof(wanted))
		return -EINVAL;
	task = lock_task(pid, &flags);
	if (task)
		wanted = task->affinity & cpus_online();
	spin_unlock_irqrestore(&tasks_lock, flags);
	if (!task)
		return -ESRCH;
	return copy_to_user(mask, &wanted, sizeof(wanted)) ? -EFAULT : (i64)sizeof(wanted);
}
