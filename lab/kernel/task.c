/*
 * Tasks and processes: their making, and finding them by number.
 *
 * A task is made in steps that may fail, visible to nobody; then it is linked into the lists under
 * tasks_lock, from where on signals reach it, and then it may run. Sharing follows clone(2).
 *
 * Differences from Linux: vfork is fork (a program may not tell, as POSIX has it), and so is clone
 * with CLONE_VFORK, whose child then has a copy of the memory; there are no namespaces.
 */
#include "task.h"

#include "../x86/fpu.h"
#include "../x86/processor_state.h"
#include "../x86/usercopy.h"
#include "../x86/x86.h"
#include "file.h"
#include "page.h"
#include "printk.h"
#include "process.h"
#include "sched.h"
#include "syscall.h"
#include "syscalls.h"

#define CLONE_SIGNAL 0xffu /* the lowest byte: what the parent gets at the end */
#define CLONE_VM 0x100u
#define CLONE_FS 0x200u
#define CLONE_FILES 0x400u
#define CLONE_SIGHAND 0x800u
#define CLONE_VFORK 0x4000u
#define CLONE_THREAD 0x10000u
#define CLONE_SYSVSEM 0x40000u
#define CLONE_SETTLS 0x80000u
#define CLONE_PARENT_SETTID 0x100000u
#define CLONE_CHILD_CLEARTID 0x200000u
#define CLONE_DETACHED 0x400000u
#define CLONE_UNTRACED 0x800000u
#define CLONE_CHILD_SETTID 0x1000000u
#define CLONE_IO 0x80000000u
#define CLONE_KNOWN                                                                                \
	(CLONE_SIGNAL | CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_VFORK |          \
	 CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |                       \
	 CLONE_CHILD_CLEARTID | CLONE_DETACHED | CLONE_UNTRACED | CLONE_CHILD_SETTID | CLONE_IO)

#define TID_MAX 32768
#define TID_BUCKETS 64

struct spinlock tasks_lock = SPINLOCK_INIT;
struct list all_groups = LIST_INIT(all_groups);

static struct list tids[TID_BUCKETS];
static u32 last_tid;
static u64 live;

/* What all kernel threads belong to; no list has it. */
static struct group kernel_group = { .tasks = LIST_INIT(kernel_group.tasks), .references = 1 };

void tasks_init(void)
{
	for (unsigned i = 0; i < TID_BUCKETS; i++)
		list_init(&tids[i]);
}

u64 task_live_count(void)
{
	return __atomic_load_n(&live, __ATOMIC_RELAXED);
}

struct task *task_find(u32 tid)
{
	struct list *bucket = &tids[tid % TID_BUCKETS], *node;

	list_for_each(node, bucket) {
		struct task *task = list_entry(node, struct task, hash);

		if (task->tid == tid)
			return task;
	}
	return NULL;
}

struct group *group_find(u32 tgid)
{
	struct list *node;

	list_for_each(node, &all_groups) {
		struct group *group = list_entry(node, struct group, all);

		if (group->tgid == tgid)
			return group;
	}
	return NULL;
}

/* A number that no task, process or process group has. */
static bool tid_is_free(u32 tid)
{
	struct list *node;

	if (task_find(tid))
		return false;
	list_for_each(node, &all_groups) {
		struct group *group = list_entry(node, struct group, all);

		if (group->tgid == tid || group->pgid == tid)
			return false;
	}
	return true;
}

static u32 tid_new(void)
{
	do {
		last_tid = last_tid == TID_MAX ? 2 : last_tid + 1;
	} while (!tid_is_free(last_tid));
	return last_tid;
}

void task_rename(struct task *task, u32 tid)
{
	list_del(&task->hash);
	task->tid = tid;
	list_add_head(&task->hash, &tids[tid % TID_BUCKETS]);
}

/* A process of its own; what it inherits is up to the caller. NULL without memory. */
static struct group *group_create(void)
{
	struct group_object {
		struct group group;
		struct wait_queue child_wait;
	} *object = kzalloc(sizeof(*object));
	struct group *group;

	if (!object)
		return NULL;
	group = &object->group;
	group->child_wait = &object->child_wait;
	wait_queue_init(group->child_wait);
	list_init(&group->tasks);
	list_init(&group->children);
	list_init(&group->sibling);
	list_init(&group->all);
	timer_init(&group->itimer, itimer_expired);
	group->references = 1;
	return group;
}

void group_put(struct group *group)
{
	if (__atomic_sub_fetch(&group->references, 1, __ATOMIC_ACQ_REL) == 0) {
		if (group->actions)
			actions_put(group->actions);
		kfree(group);
	}
}

/* Stack, FPU area and structure; it belongs to no process yet. Its state is TASK_RUNNING, so that
 * no signal wakes it before sched_add_new() has put it on a run queue. */
static struct task *task_allocate(void)
{
	struct task *task = kzalloc(sizeof(*task));

	if (!task)
		return NULL;
	task->kstack = page_alloc(KSTACK_ORDER);
	task->fpu = kmalloc(sizeof(struct fpu_state));
	if (!task->kstack || !task->fpu) {
		if (task->kstack)
			page_free(task->kstack, KSTACK_ORDER);
		kfree(task->fpu);
		kfree(task);
		return NULL;
	}
	*(u64 *)task->kstack = KSTACK_MAGIC;
	task->kstack_top = (u64)task->kstack + KSTACK_SIZE;
	fpu_init_state(task->fpu);
	list_init(&task->run);
	list_init(&task->wait);
	list_init(&task->member);
	list_init(&task->hash);
	list_init(&task->futex);
	__atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
	return task;
}

void task_free(struct task *task)
{
	assert(*(u64 *)task->kstack == KSTACK_MAGIC);
	page_free(task->kstack, KSTACK_ORDER);
	kfree(task->fpu);
	__atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
	if (task->group)
		group_put(task->group);
	kfree(task);
}

static void group_join(struct task *task, struct group *group)
{
	__atomic_add_fetch(&group->references, 1, __ATOMIC_RELAXED);
	task->group = group;
}

struct task *task_create_kernel(const char *name, void (*body)(void *), void *argument)
{
	struct task *task = task_allocate();

	if (!task)
		return NULL;
	snprintf(task->name, sizeof(task->name), "%s", name);
	task->affinity = ~0ul;
	task->level = LEVEL_OTHER;
	task_first_frame(task, body, argument);
	group_join(task, &kernel_group);
	return task;
}

/* The current kernel thread becomes process 1; 0 or -ENOMEM. */
int task_become_init(void)
{
	struct task *task = current;
	struct group *group = group_create();
	struct sigaction_table *actions = actions_create(NULL);
	struct files *files = files_create();
	u64 flags;

	if (!group || !actions || !files)
		return -ENOMEM;
	group->actions = actions;
	group->stack_limit = DEFAULT_STACK_LIMIT;
	group->exit_signal = SIGCHLD;
	task->files = files;
	group_put(task->group);
	group_join(task, group);
	flags = spin_lock_irqsave(&tasks_lock);
	group->tgid = group->pgid = task->tid = tid_new();
	group->leader = task;
	group->threads = 1;
	list_add_before(&task->member, &group->tasks);
	list_add_before(&group->all, &all_groups);
	task_rename(task, task->tid);
	spin_unlock_irqrestore(&tasks_lock, flags);
	return 0;
}

/* What clone(2) forbids, and what this kernel has not. */
static bool clone_flags_valid(u64 flags)
{
	if (flags & ~(u64)CLONE_KNOWN || (flags & CLONE_SIGNAL) > SIGNALS)
		return false;
	if ((flags & CLONE_THREAD) && (flags & (CLONE_SIGHAND | CLONE_VFORK)) != CLONE_SIGHAND)
		return false;
	return !(flags & CLONE_SIGHAND) || (flags & CLONE_VM);
}

static void inherit(struct task *child, const struct task *parent)
{
	child->policy = parent->policy;
	child->priority = parent->priority;
	child->level = parent->level;
	child->affinity = parent->affinity;
	child->cpu = parent->cpu;
	child->blocked = parent->blocked;
	memcpy(child->name, parent->name, sizeof(child->name));
}

/* The new process of a child that is no thread. */
static int inherit_group(struct task *child, struct group *from, u64 flags)
{
	struct group *group = group_create();

	if (!group)
		return -ENOMEM;
	group_join(child, group);
	group->stack_limit = from->stack_limit;
	group->persona = from->persona;
	group->exit_signal = flags & CLONE_SIGNAL;
	group->actions = flags & CLONE_SIGHAND ? actions_get(from->actions)
					       : actions_create(from->actions);
	return group->actions ? 0 : -ENOMEM;
}

/* Memory, files, ports, process: shared or copied as `flags` ask. What was taken when it fails is
 * let go by discard(). */
static int inherit_resources(struct task *child, struct task *parent, u64 flags)
{
	if (flags & CLONE_VM) {
		mm_get(parent->mm);
		child->mm = parent->mm;
	} else {
		child->mm = mm_fork(parent->mm);
		child->alt_stack = parent->alt_stack;
		child->alt_stack_size = parent->alt_stack_size;
	}
	if (!child->mm)
		return -ENOMEM;
	if (flags & CLONE_FILES) {
		files_get(parent->files);
		child->files = parent->files;
	} else {
		child->files = files_fork(parent->files);
	}
	if (!child->files || iobitmap_fork(child, parent))
		return -ENOMEM;
	if (flags & CLONE_THREAD) {
		group_join(child, parent->group);
		return 0;
	}
	return inherit_group(child, parent->group, flags);
}

/* Undoes the making of a task that never ran, nor was linked. */
static void discard(struct task *task)
{
	struct group *group = task->group;

	iobitmap_drop(task);
	if (task->files)
		files_put(task->files);
	if (task->mm)
		mm_put(task->mm);
	if (group && group != current->group)
		group_put(group); /* the reference until it is waited for */
	task_free(task);
}

/* Makes it visible; its number, or -errno if its process is about to end: a signal that was sent to
 * all must not miss the child that is born meanwhile. */
static i64 link_task(struct task *child, bool thread)
{
	struct group *own = current->group, *group = child->group;
	u64 flags = spin_lock_irqsave(&tasks_lock);

	if (signal_pending()) {
		spin_unlock_irqrestore(&tasks_lock, flags);
		return -ERESTARTNOINTR;
	}
	child->tid = tid_new();
	task_rename(child, child->tid);
	list_add_before(&child->member, &group->tasks);
	group->threads++;
	if (!thread) {
		group->tgid = child->tid;
		group->pgid = own->pgid;
		group->leader = child;
		group->parent = own;
		group->parent_tgid = own->tgid;
		list_add_before(&group->sibling, &own->children);
		list_add_before(&group->all, &all_groups);
	}
	spin_unlock_irqrestore(&tasks_lock, flags);
	return child->tid;
}

i64 task_clone(const struct regs *regs, u64 flags, u64 stack, u64 parent_tid, u64 child_tid,
	       u64 tls)
{
	struct task *child;
	i64 result;

	if (!clone_flags_valid(flags))
		return -EINVAL;
	if (flags & CLONE_VFORK)
		flags &= ~(u64)(CLONE_VM | CLONE_SIGHAND);
	child = task_allocate();
	if (!child)
		return -ENOMEM;
	inherit(child, current);
	program_fork(child, regs, stack);
	result = inherit_resources(child, current, flags);
	if (!result && flags & CLONE_SETTLS)
		result = program_set_tls(child, tls);
	if (flags & CLONE_CHILD_SETTID)
		child->set_tid = child_tid;
	if (flags & CLONE_CHILD_CLEARTID)
		child->clear_tid = child_tid;
	if (!result)
		result = link_task(child, flags & CLONE_THREAD);
	if (result < 0) {
		discard(child);
		return result;
	}
	if (flags & CLONE_PARENT_SETTID)
		put_user_u32(parent_tid, result);
	sched_add_new(child);
	return result;
}

void task_first_return(void)
{
	if (current->set_tid)
		put_user_u32(current->set_tid, current->tid);
	current->set_tid = 0;
}

i64 sys_fork(void)
{
	return task_clone(task_regs(current), SIGCHLD, 0, 0, 0, 0);
}

i64 sys_vfork(void)
{
	return sys_fork();
}

i64 sys_clone(u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls)
{
	/* Linux looks at 32 bits only. */
	return task_clone(task_regs(current), (u32)flags, stack, parent_tid, child_tid, tls);
}

i64 compat_clone(u64 flags, u64 stack, u64 parent_tid, u64 tls, u64 child_tid)
{
	return sys_clone(flags, stack, parent_tid, child_tid, tls);
}
