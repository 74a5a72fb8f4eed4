/*
 * The end of tasks and processes, and waiting for it.
 *
 * A task that ends lets go of its memory, files and ports, leaves the lists, and switches away for
 * the last time; the next task on that CPU frees it. The process stays as a zombie, a group without
 * tasks, until its parent has asked for its status, or declares by SIGCHLD's action that it never
 * will.
 *
 * Sources: wait(2), exit_group(2), prctl(2); Linux kernel/exit.c.
 */
#include "../x86/usercopy.h"
#include "../x86/x86.h"
#include "file.h"
#include "printk.h"
#include "process.h"
#include "sched.h"
#include "syscall.h"
#include "syscalls.h"

#define WNOHANG 1u
#define WUNTRACED 2u
#define WCONTINUED 8u
#define WAIT_THREADS 0xe0000000u /* __WNOTHREAD, __WALL, __WCLONE: there is nothing to choose */

#define INIT_TGID 1

void usage_add(struct usage *to, const struct usage *from)
{
	to->voluntary += from->voluntary;
	to->involuntary += from->involuntary;
	to->minor_faults += from->minor_faults;
}

struct usage task_usage(const struct task *task)
{
	return (struct usage){ task->voluntary, task->involuntary, task->minor_faults };
}

void clear_tid(struct task *task)
{
	u64 address = task->clear_tid;

	task->clear_tid = 0;
	if (!address || READ_ONCE(task->mm->users) == 1)
		return;
	put_user_u32(address, 0);
	futex_wake(address, false, 1, ~0u);
}

static void release_resources(struct task *task)
{
	struct mm *mm = task->mm;

	clear_tid(task);
	iobitmap_drop(task);
	files_put(task->files);
	task->files = NULL;
	task->mm = NULL;
	mm_activate(NULL);
	mm_put(mm);
}

/* Takes a zombie out of the tree; its parent asked for it, or never will. */
static void reap(struct group *group)
{
	list_del(&group->sibling);
	list_del(&group->all);
	group_put(group);
}

/* Whether a process wants no zombies: SIGCHLD ignored, or SA_NOCLDWAIT. */
static bool reaps_automatically(const struct group *parent)
{
	const struct sigaction *action = &parent->actions->action[SIGCHLD];

	return action->handler == SIG_IGN || action->flags & SA_NOCLDWAIT;
}

/* Tells the parent of a zombie, which may go at once. */
static void notify_parent(struct group *group)
{
	struct group *parent = group->parent;
	bool killed = group->exit_status & 0x7f;
	u64 status = killed ? group->exit_status & 0x7f : group->exit_status >> 8;
	struct signal_info info = {
		.number = group->exit_signal,
		.code = killed ? CLD_KILLED : CLD_EXITED,
		.address = group->tgid | status << 32,
	};

	if (info.number)
		signal_send_group(parent, &info);
	wake_up_all(parent->child_wait);
	if (info.number == SIGCHLD && reaps_automatically(parent))
		reap(group);
}

static void send_death_signals(struct group *child)
{
	struct list *node;

	list_for_each(node, &child->tasks) {
		struct task *task = list_entry(node, struct task, member);
		struct signal_info info = { .number = task->death_signal, .code = SI_USER };

		if (info.number)
			signal_send_group(child, &info);
	}
}

/* The children of a process that ends become init's. */
static void give_children_away(struct group *group)
{
	struct group *init = group_find(INIT_TGID);
	struct list *node, *after;

	list_for_each_safe(node, after, &group->children) {
		struct group *child = list_entry(node, struct group, sibling);

		list_del(&child->sibling);
		list_add_before(&child->sibling, &init->children);
		child->parent = init;
		child->parent_tgid = init->tgid;
		child->exit_signal = SIGCHLD;
		send_death_signals(child);
		if (child->zombie)
			notify_parent(child);
	}
}

/* Leaves the lists; true for the last of its process. */
static bool leave_group(struct task *task, u32 status)
{
	struct group *group = task->group;
	struct usage usage = task_usage(task);
	u64 flags = spin_lock_irqsave(&tasks_lock);
	bool last;

	list_del(&task->hash);
	list_del(&task->member);
	usage_add(&group->usage, &usage);
	if (group->leader == task) {
		group->leader = NULL;
		if (!group->exiting)
			group->exit_status = status;
	}
	last = --group->threads == 0;
	if (group->exec_task && group->threads == 1)
		wake_up_task(group->exec_task);
	spin_unlock_irqrestore(&tasks_lock, flags);
	return last;
}

/* The process has no tasks any more: it becomes a zombie. */
static void end_group(struct group *group)
{
	u64 flags;

	if (group->tgid == INIT_TGID)
		panic("init ended, status %x", group->exit_status);
	itimer_stop(group);
	flags = spin_lock_irqsave(&tasks_lock);
	give_children_away(group);
	group->zombie = true;
	notify_parent(group);
	spin_unlock_irqrestore(&tasks_lock, flags);
}

_Noreturn void task_exit(u32 status)
{
	struct task *task = current;

	if (task->mm) { /* else a kernel thread, which has nothing and is in no list */
		release_resources(task);
		if (leave_group(task, status))
			end_group(task->group);
	}
	task->state = TASK_DEAD;
	schedule();
	panic("a dead task runs");
}

_Noreturn void task_exit_group(u32 status)
{
	struct group *group = current->group;
	u64 flags = spin_lock_irqsave(&tasks_lock);

	if (!group->exiting && !group->exec_task) {
		group->exiting = true;
		group->exit_status = status;
		signal_kill_others(group);
	}
	spin_unlock_irqrestore(&tasks_lock, flags);
	task_exit(status);
}

i64 end_other_threads(void)
{
	struct task *task = current;
	struct group *group = task->group;
	u64 flags = spin_lock_irqsave(&tasks_lock);

	if (group->exiting || group->exec_task) {
		spin_unlock_irqrestore(&tasks_lock, flags);
		return -EAGAIN;
	}
	group->exec_task = task;
	signal_kill_others(group);
	while (group->threads > 1) {
		task->state = TASK_UNINTERRUPTIBLE; /* the last of them wakes us */
		spin_unlock_irqrestore(&tasks_lock, flags);
		schedule();
		flags = spin_lock_irqsave(&tasks_lock);
	}
	group->exec_task = NULL;
	group->leader = task;
	task_rename(task, group->tgid);
	spin_unlock_irqrestore(&tasks_lock, flags);
	return 0;
}

static bool waits_for(const struct group *child, i64 pid)
{
	if (pid > 0)
		return child->tgid == pid;
	if (pid == 0)
		return child->pgid == current->group->pgid;
	return pid == -1 || child->pgid == -pid;
}

/*
 * A child that has ended is reaped: its number is returned. 0: there are only living ones, -ECHILD:
 * there are none.
 */
static i64 find_zombie(i64 pid, struct group **zombie)
{
	struct list *node;
	i64 result = -ECHILD;

	list_for_each(node, &current->group->children) {
		struct group *child = list_entry(node, struct group, sibling);

		if (!waits_for(child, pid))
			continue;
		result = 0;
		if (child->zombie) {
			*zombie = child;
			return child->tgid;
		}
	}
	return result;
}

static i64 try_wait(i64 pid, u32 *status, struct usage *usage)
{
	struct group *zombie = NULL;
	u64 flags = spin_lock_irqsave(&tasks_lock);
	i64 result = find_zombie(pid, &zombie);

	if (!zombie) {
		spin_unlock_irqrestore(&tasks_lock, flags);
		return result;
	}
	*status = zombie->exit_status;
	*usage = zombie->usage;
	usage_add(usage, &zombie->children_usage);
	usage_add(&current->group->children_usage, usage);
	list_del(&zombie->sibling);
	list_del(&zombie->all);
	spin_unlock_irqrestore(&tasks_lock, flags);
	/* Its last task may not yet have switched away on its CPU. Once it has, nothing is left. */
	while (__atomic_load_n(&zombie->references, __ATOMIC_ACQUIRE) > 1)
		cpu_pause();
	group_put(zombie);
	return result;
}

i64 task_wait(i64 pid, u32 options, u32 *status, struct usage *usage)
{
	struct wait_queue *queue = current->group->child_wait;
	i64 result;

	if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | WAIT_THREADS))
		return -EINVAL;
	for (;;) {
		wait_prepare(queue);
		result = try_wait(pid, status, usage);
		if (result || options & WNOHANG)
			break;
		if (signal_pending()) {
			result = -ERESTARTSYS;
			break;
		}
		schedule();
	}
	wait_finish(queue);
	return result;
}

i64 sys_exit(u64 code)
{
	task_exit((code & 0xff) << 8);
}

i64 sys_exit_group(u64 code)
{
	task_exit_group((code & 0xff) << 8);
}

i64 sys_waitpid(u64 pid, u64 status, u64 options)
{
	return sys_wait4(pid, status, options, 0);
}
