/*
 * System calls about signals. 32-bit programs have the sets alike, the actions and the alternate
 * stack in another layout, and two older calls.
 */
#include "../x86/sigframe.h"
#include "../x86/usercopy.h"
#include "process.h"
#include "sched.h"
#include "syscall.h"
#include "syscalls.h"

#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2
#define SET_SIZE sizeof(u64)

struct sigaction32 {
	u32 handler, flags, restorer, mask[2];
};

struct old_sigaction32 {
	u32 handler, mask, flags, restorer;
};

struct alt_stack {
	u64 address;
	u32 flags, hole;
	u64 size;
};

struct alt_stack32 {
	u32 address, flags, size;
};

i64 sys_kill(u64 pid, u64 signal)
{
	return signal_kill((i32)pid, signal);
}

/* To one thread; `tgid` 0: of whatever process. */
static i64 kill_thread(u32 tgid, i32 tid, u32 number)
{
	struct signal_info info = {
		.number = number, .code = SI_TKILL, .address = current->group->tgid,
	};
	struct task *task;
	u64 flags;
	i64 result = -ESRCH;

	if (tid <= 0 || number > SIGNALS)
		return -EINVAL;
	flags = spin_lock_irqsave(&tasks_lock);
	task = task_find(tid);
	if (task && (!tgid || task->group->tgid == tgid)) {
		result = 0;
		if (number)
			signal_send_task(task, &info);
	}
	spin_unlock_irqrestore(&tasks_lock, flags);
	return result;
}

i64 sys_tkill(u64 tid, u64 signal)
{
	return kill_thread(0, tid, signal);
}

i64 sys_tgkill(u64 tgid, u64 tid, u64 signal)
{
	if ((i32)tgid <= 0)
		return -EINVAL;
	return kill_thread(tgid, tid, signal);
}

i64 sys_rt_sigaction(u64 signal, u64 action, u64 old, u64 set_size)
{
	struct sigaction wanted, before;
	i64 error;

	if (set_size != SET_SIZE)
		return -EINVAL;
	if (action && copy_from_user(&wanted, action, sizeof(wanted)))
		return -EFAULT;
	error = signal_set_action(signal, action ? &wanted : NULL, &before);
	if (!error && old && copy_to_user(old, &before, sizeof(before)))
		return -EFAULT;
	return error;
}

i64 compat_rt_sigaction(u64 signal, u64 action, u64 old, u64 set_size)
{
	struct sigaction32 narrow;
	struct sigaction wanted, before;
	i64 error;

	if (set_size != SET_SIZE)
		return -EINVAL;
	if (action && copy_from_user(&narrow, action, sizeof(narrow)))
		return -EFAULT;
	if (action)
		wanted = (struct sigaction){
			narrow.handler, narrow.flags, narrow.restorer,
			narrow.mask[0] | (u64)narrow.mask[1] << 32,
		};
	error = signal_set_action(signal, action ? &wanted : NULL, &before);
	narrow = (struct sigaction32){
		before.handler, before.flags, before.restorer, { before.mask, before.mask >> 32 },
	};
	if (!error && old && copy_to_user(old, &narrow, sizeof(narrow)))
		return -EFAULT;
	return error;
}

i64 compat_sigaction(u64 signal, u64 action, u64 old)
{
	struct old_sigaction32 narrow;
	struct sigaction wanted, before;
	i64 error;

	if (action && copy_from_user(&narrow, action, sizeof(narrow)))
		return -EFAULT;
	if (action)
		wanted = (struct sigaction){
			narrow.handler, narrow.flags, narrow.restorer, narrow.mask,
		};
	error = signal_set_action(signal, action ? &wanted : NULL, &before);
	narrow = (struct old_sigaction32){
		before.handler, before.mask, before.flags, before.restorer,
	};
	if (!error && old && copy_to_user(old, &narrow, sizeof(narrow)))
		return -EFAULT;
	return error;
}

/* signal(2) of 32-bit programs: the action is taken only once. */
i64 compat_signal(u64 signal, u64 handler)
{
	struct sigaction wanted = { .handler = handler, .flags = SA_RESETHAND | SA_NODEFER };
	struct sigaction before;
	i64 error = signal_set_action(signal, &wanted, &before);

	return error ? error : (i64)before.handler;
}

i64 sys_rt_sigprocmask(u64 how, u64 set, u64 old, u64 set_size)
{
	u64 before = current->blocked, wanted;

	if (set_size != SET_SIZE)
		return -EINVAL;
	if (set) {
		if (get_user_u64(&wanted, set))
			return -EFAULT;
		switch ((u32)how) {
		case SIG_BLOCK:
			wanted |= before;
			break;
		case SIG_UNBLOCK:
			wanted = before & ~wanted;
			break;
		case SIG_SETMASK:
			break;
		default:
			return -EINVAL;
		}
		signal_set_blocked(wanted);
	}
	return old ? put_user_u64(old, before) : 0;
}

i64 sys_rt_sigpending(u64 set, u64 set_size)
{
	struct task *task = current;
	u64 waiting = READ_ONCE(task->signals.set) | READ_ONCE(task->group->signals.set);

	if (set_size != SET_SIZE)
		return -EINVAL;
	return put_user_u64(set, waiting & task->blocked);
}

/* Sleeps until a signal is there to be delivered. */
static i64 wait_for_signal(void)
{
	for (;;) {
		/* A full barrier, as in wait_prepare(). */
		__atomic_store_n(&current->state, TASK_SLEEPING, __ATOMIC_SEQ_CST);
		if (signal_pending())
			break;
		schedule();
	}
	current->state = TASK_RUNNING;
	return -ERESTARTNOHAND;
}

i64 sys_pause(void)
{
	return wait_for_signal();
}

i64 sys_rt_sigsuspend(u64 set, u64 set_size)
{
	u64 wanted;

	if (set_size != SET_SIZE)
		return -EINVAL;
	if (get_user_u64(&wanted, set))
		return -EFAULT;
	current->saved_blocked = current->blocked;
	current->restore_blocked = true;
	signal_set_blocked(wanted);
	return wait_for_signal();
}

/* Both as copy_from_user() and copy_to_user(): 0 is success. */
static u64 alt_stack_from_user(struct alt_stack *to, u64 from, bool compat)
{
	struct alt_stack32 narrow;

	if (!compat)
		return copy_from_user(to, from, sizeof(*to));
	if (copy_from_user(&narrow, from, sizeof(narrow)))
		return sizeof(narrow);
	*to = (struct alt_stack){ narrow.address, narrow.flags, .size = narrow.size };
	return 0;
}

static u64 alt_stack_to_user(u64 to, const struct alt_stack *from, bool compat)
{
	const struct alt_stack32 narrow = { from->address, from->flags, from->size };

	return compat ? copy_to_user(to, &narrow, sizeof(narrow))
		      : copy_to_user(to, from, sizeof(*from));
}

static i64 sigaltstack(u64 stack, u64 old, bool compat)
{
	u64 rsp = task_regs(current)->rsp;
	struct alt_stack wanted, before = {
		.address = current->alt_stack,
		.flags = alt_stack_flags(rsp),
		.size = current->alt_stack_size,
	};
	i64 error = 0;

	if (stack && alt_stack_from_user(&wanted, stack, compat))
		return -EFAULT;
	if (stack)
		error = alt_stack_set(rsp, wanted.address, wanted.size, wanted.flags);
	if (!error && old && alt_stack_to_user(old, &before, compat))
		return -EFAULT;
	return error;
}

i64 sys_sigaltstack(u64 stack, u64 old)
{
	return sigaltstack(stack, old, false);
}

i64 compat_sigaltstack(u64 stack, u64 old)
{
	return sigaltstack(stack, old, true);
}
