/*
 * Signals: sending, what waits, and taking one before the return to user mode.
 *
 * All state is under tasks_lock, which is an irqsave lock: timers send from interrupts. A task that
 * gets a signal has WORK_SIGNAL set, and is made to look at it: woken, or interrupted on its CPU.
 * The bit is cleared before the pending sets are looked at, so none is overlooked.
 *
 * Differences from Linux: of each number only one waits, for real-time signals too; stopping and
 * continuing are not reported to the parent; there are no core dumps.
 *
 * Sources: signal(7), sigaction(2); Linux kernel/signal.c.
 */
#include "signal.h"

#include "../x86/sigframe.h"
#include "../x86/x86.h"
#include "page.h"
#include "process.h"
#include "sched.h"
#include "syscall.h"

#define SIGNAL_SET(number) (1ul << ((number) - 1))
#define STOP_SIGNALS                                                                               \
	(SIGNAL_SET(SIGSTOP) | SIGNAL_SET(SIGTSTP) | SIGNAL_SET(SIGTTIN) | SIGNAL_SET(SIGTTOU))
#define IGNORED_BY_DEFAULT                                                                         \
	(SIGNAL_SET(SIGCHLD) | SIGNAL_SET(SIGCONT) | SIGNAL_SET(SIGURG) | SIGNAL_SET(SIGWINCH))
#define NEVER_BLOCKED (SIGNAL_SET(SIGKILL) | SIGNAL_SET(SIGSTOP))

#define INIT_TGID 1

struct sigaction_table *actions_create(const struct sigaction_table *from)
{
	struct sigaction_table *actions = kzalloc(sizeof(*actions));
	u64 flags;

	if (!actions)
		return NULL;
	if (from) {
		flags = spin_lock_irqsave(&tasks_lock);
		*actions = *from;
		spin_unlock_irqrestore(&tasks_lock, flags);
	}
	actions->references = 1;
	return actions;
}

struct sigaction_table *actions_get(struct sigaction_table *actions)
{
	__atomic_add_fetch(&actions->references, 1, __ATOMIC_RELAXED);
	return actions;
}

void actions_put(struct sigaction_table *actions)
{
	if (__atomic_sub_fetch(&actions->references, 1, __ATOMIC_ACQ_REL) == 0)
		kfree(actions);
}

/* Whether the process, as it is now, would do nothing about the signal. Init has no default
 * actions: nobody kills it. */
static bool is_ignored(const struct group *group, u32 number)
{
	u64 handler = group->actions->action[number].handler;

	if (handler != SIG_DFL)
		return handler == SIG_IGN;
	return signal_bit(number) & IGNORED_BY_DEFAULT || group->tgid == INIT_TGID;
}

/* Makes it look at its signals. `always`: even if it sleeps uninterruptibly; it looks again. */
static void signal_wake(struct task *task, bool always)
{
	u32 state, cpu = task->cpu;

	__atomic_fetch_or(&task->work, WORK_SIGNAL, __ATOMIC_SEQ_CST);
	state = READ_ONCE(task->state);
	if (state == TASK_SLEEPING || (always && state == TASK_UNINTERRUPTIBLE))
		wake_up_task(task);
	else if (cpu != this_cpu()->number && READ_ONCE(task->on_cpu))
		smp_call_reschedule(cpu);
}

static void post(struct signal_pending *pending, const struct signal_info *info)
{
	if (pending->set & signal_bit(info->number))
		return;
	pending->info[info->number] = *info;
	pending->set |= signal_bit(info->number);
}

/* Takes signals back everywhere in the process. */
static void retract(struct group *group, u64 set)
{
	struct list *node;

	group->signals.set &= ~set;
	list_for_each(node, &group->tasks)
		list_entry(node, struct task, member)->signals.set &= ~set;
}

static void wake_all(struct group *group)
{
	struct list *node;

	list_for_each(node, &group->tasks)
		signal_wake(list_entry(node, struct task, member), true);
}

/* Signals that stop and those that continue cancel each other, when sent, blocked or not. */
static void stop_or_continue(struct group *group, u32 number)
{
	if (signal_bit(number) & STOP_SIGNALS)
		retract(group, SIGNAL_SET(SIGCONT));
	if (number == SIGCONT || number == SIGKILL) {
		retract(group, STOP_SIGNALS);
		group->stopped = false;
		wake_all(group);
	}
}

void signal_send_task(struct task *task, const struct signal_info *info)
{
	u64 bit = signal_bit(info->number);

	stop_or_continue(task->group, info->number);
	if (is_ignored(task->group, info->number) && !(task->blocked & bit))
		return;
	post(&task->signals, info);
	if (!(task->blocked & bit))
		signal_wake(task, info->number == SIGKILL);
}

void signal_send_group(struct group *group, const struct signal_info *info)
{
	u64 bit = signal_bit(info->number);
	struct task *first;
	struct list *node;

	if (list_empty(&group->tasks))
		return;
	stop_or_continue(group, info->number);
	first = list_entry(group->tasks.next, struct task, member);
	if (is_ignored(group, info->number) && !(first->blocked & bit))
		return;
	post(&group->signals, info);
	if (info->number == SIGKILL) {
		wake_all(group);
		return;
	}
	list_for_each(node, &group->tasks) {
		struct task *task = list_entry(node, struct task, member);

		if (!(task->blocked & bit)) {
			signal_wake(task, false);
			return;
		}
	}
}

void signal_kill_others(struct group *group)
{
	struct signal_info info = { .number = SIGKILL, .code = SI_KERNEL };
	struct list *node;

	group->stopped = false;
	list_for_each(node, &group->tasks) {
		struct task *task = list_entry(node, struct task, member);

		if (task == current)
			continue;
		post(&task->signals, &info);
		signal_wake(task, true);
	}
}

i64 signal_kill(i64 pid, u32 number)
{
	struct signal_info info = { .number = number, .code = SI_USER };
	struct group *own = current->group;
	i64 result = -ESRCH;
	struct list *node;
	u64 flags;

	if (number > SIGNALS)
		return -EINVAL;
	info.address = own->tgid;
	flags = spin_lock_irqsave(&tasks_lock);
	list_for_each(node, &all_groups) {
		struct group *group = list_entry(node, struct group, all);
		bool meant = pid > 0 ? group->tgid == pid
			   : pid == -1 ? group != own && group->tgid != INIT_TGID
				       : group->pgid == (pid ? -pid : own->pgid);

		if (!meant)
			continue;
		result = 0;
		if (number)
			signal_send_group(group, &info);
	}
	spin_unlock_irqrestore(&tasks_lock, flags);
	return result;
}

void signal_force(u32 number, int code, u64 address)
{
	struct task *task = current;
	struct signal_info info = { .number = number, .code = code, .address = address };
	struct sigaction *action = &task->group->actions->action[number];
	u64 flags = spin_lock_irqsave(&tasks_lock);

	if (action->handler == SIG_IGN || task->blocked & signal_bit(number))
		action->handler = SIG_DFL;
	task->blocked &= ~signal_bit(number);
	task->forced = number;
	post(&task->signals, &info);
	__atomic_fetch_or(&task->work, WORK_SIGNAL, __ATOMIC_SEQ_CST);
	spin_unlock_irqrestore(&tasks_lock, flags);
}

static u64 deliverable(const struct task *task)
{
	return (READ_ONCE(task->signals.set) | READ_ONCE(task->group->signals.set)) &
	       ~task->blocked;
}

bool signal_pending(void)
{
	return deliverable(current) || READ_ONCE(current->group->stopped);
}

/* What this thread no longer takes, another may have to. */
static void hand_over(struct task *task, u64 set)
{
	struct list *node;

	list_for_each(node, &task->group->tasks) {
		struct task *other = list_entry(node, struct task, member);

		if (set & ~other->blocked)
			signal_wake(other, false);
	}
}

void signal_set_blocked(u64 blocked)
{
	struct task *task = current;
	u64 flags = spin_lock_irqsave(&tasks_lock);
	u64 fresh = blocked & ~task->blocked & task->group->signals.set;

	task->blocked = blocked & ~NEVER_BLOCKED;
	if (deliverable(task))
		__atomic_fetch_or(&task->work, WORK_SIGNAL, __ATOMIC_SEQ_CST);
	if (fresh)
		hand_over(task, fresh);
	spin_unlock_irqrestore(&tasks_lock, flags);
}

i64 signal_set_action(u32 number, const struct sigaction *action, struct sigaction *old)
{
	struct group *group = current->group;
	u64 flags;

	if (number < 1 || number > SIGNALS ||
	    (action && signal_bit(number) & NEVER_BLOCKED))
		return -EINVAL;
	flags = spin_lock_irqsave(&tasks_lock);
	*old = group->actions->action[number];
	if (action) {
		group->actions->action[number] = *action;
		group->actions->action[number].mask &= ~NEVER_BLOCKED;
		if (is_ignored(group, number))
			retract(group, signal_bit(number));
	}
	spin_unlock_irqrestore(&tasks_lock, flags);
	return 0;
}

/* Faults first, then what ends the process, then by number. */
static u32 choose(const struct task *task, u64 set)
{
	if (task->forced && set & signal_bit(task->forced))
		return task->forced;
	if (set & signal_bit(SIGKILL))
		return SIGKILL;
	return __builtin_ctzl(set) + 1;
}

/* Takes one signal that waits; false if none does. With tasks_lock held. */
static bool take(struct task *task, struct signal_info *info)
{
	struct signal_pending *own = &task->signals, *shared = &task->group->signals, *from;
	u64 set = deliverable(task), bit;
	u32 number;

	if (!set)
		return false;
	number = choose(task, set);
	bit = signal_bit(number);
	from = own->set & bit ? own : shared;
	*info = from->info[number];
	from->set &= ~bit;
	return true;
}

/* Sleeps as long as the process is stopped; tasks_lock held on entry and exit. */
static u64 sleep_stopped(struct task *task, u64 flags)
{
	while (task->group->stopped && !(deliverable(task) & signal_bit(SIGKILL))) {
		task->state = TASK_UNINTERRUPTIBLE;
		spin_unlock_irqrestore(&tasks_lock, flags);
		schedule();
		flags = spin_lock_irqsave(&tasks_lock);
	}
	return flags;
}

/* Whether a signal that was taken is one that even init can't ignore: its own fault, and the
 * kernel's way to end its other threads. */
static bool is_forced(struct task *task, const struct signal_info *info)
{
	if (task->forced != info->number)
		return info->number == SIGKILL && info->code == SI_KERNEL;
	task->forced = 0;
	return true;
}

/*
 * The next signal that a handler wants, with its action; false if there is none. Default actions
 * are done here, some do not return.
 */
static bool next_handled(struct task *task, struct signal_info *info, struct sigaction *action)
{
	u64 flags = spin_lock_irqsave(&tasks_lock);

	for (;;) {
		flags = sleep_stopped(task, flags);
		if (!take(task, info))
			break;
		*action = task->group->actions->action[info->number];
		if (action->handler != SIG_DFL && action->handler != SIG_IGN) {
			if (action->flags & SA_RESETHAND)
				task->group->actions->action[info->number].handler = SIG_DFL;
			spin_unlock_irqrestore(&tasks_lock, flags);
			return true;
		}
		if (!is_forced(task, info) && is_ignored(task->group, info->number))
			continue;
		if (signal_bit(info->number) & STOP_SIGNALS) {
			task->group->stopped = true;
			wake_all(task->group);
			continue;
		}
		spin_unlock_irqrestore(&tasks_lock, flags);
		task_exit_group(info->number);
	}
	spin_unlock_irqrestore(&tasks_lock, flags);
	return false;
}

/* What becomes of an interrupted system call; `action` NULL: no handler runs. */
static void restart(struct regs *regs, const struct sigaction *action)
{
	bool again;

	if ((i64)regs->orig_rax < 0)
		return; /* not from a system call */
	switch (-(i64)regs->rax) {
	case ERESTARTNOINTR:
		again = true;
		break;
	case ERESTARTSYS:
		again = !action || action->flags & SA_RESTART;
		break;
	case ERESTARTNOHAND:
		again = !action;
		break;
	default:
		return;
	}
	if (again) {
		regs->rax = regs->orig_rax;
		regs->rip -= 2; /* syscall, int 0x80, or what stands before sysenter's return */
	} else {
		regs->rax = -EINTR;
	}
}

/* The mask while the handler runs. */
static void block_for_handler(struct task *task, u32 number, const struct sigaction *action)
{
	u64 blocked = task->blocked | action->mask;

	if (!(action->flags & SA_NODEFER))
		blocked |= signal_bit(number);
	task->restore_blocked = false;
	signal_set_blocked(blocked);
}

void signal_deliver(struct regs *regs)
{
	struct task *task = current;
	struct signal_info info;
	struct sigaction action;

	__atomic_fetch_and(&task->work, ~WORK_SIGNAL, __ATOMIC_SEQ_CST);
	if (!next_handled(task, &info, &action)) {
		restart(regs, NULL);
		if (task->restore_blocked) {
			task->restore_blocked = false;
			signal_set_blocked(task->saved_blocked);
		}
		return;
	}
	restart(regs, &action);
	if (sigframe_build(regs, &info, &action, task->restore_blocked ? task->saved_blocked
								       : task->blocked)) {
		block_for_handler(task, info.number, &action);
	} else {
		/* No room on its stack: if that was SIGSEGV's handler, it is not asked again. */
		if (info.number == SIGSEGV)
			signal_set_blocked(task->blocked | signal_bit(SIGSEGV));
		signal_force(SIGSEGV, SI_KERNEL, 0);
	}
	if (deliverable(task))
		__atomic_fetch_or(&task->work, WORK_SIGNAL, __ATOMIC_SEQ_CST);
}
