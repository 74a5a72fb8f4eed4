/*
 * System calls about user and group ids, about scheduling, limits, and what fits nowhere else.
 *
 * There is one user, root, and one session. Limits other than the stack's are told, not enforced.
 */
#include "../uapi/lab.h"
#include "../x86/usercopy.h"
#include "../x86/x86.h"
#include "bkl.h"
#include "ioctl.h"
#include "file.h"
#include "link.h"
#include "page.h"
#include "printk.h"
#include "process.h"
#include "random.h"
#include "sched.h"
#include "softirq.h"
#include "syscall.h"
#include "syscalls.h"
#include "virtio_net.h"

#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1)
#define RUSAGE_THREAD 1
/* struct rusage: two times, then 14 numbers; those of 32-bit programs are half as wide. */
#define RUSAGE_FIELDS 18

#define RLIMIT_STACK 3
#define RLIMIT_NOFILE 7
#define RLIMITS 16
#define RLIM_INFINITY (~0ul)

#define PR_SET_PDEATHSIG 1
#define PR_GET_PDEATHSIG 2
#define PR_SET_NAME 15
#define PR_GET_NAME 16

#define GETRANDOM_MAX (1ul << 20)

#define REBOOT_MAGIC 0xfee1deadu
#define REBOOT_RESTART 0x01234567u
#define REBOOT_HALT 0xcdef0123u
#define REBOOT_POWER_OFF 0x4321fedcu

i64 sys_getpid(void)
{
	return current->group->tgid;
}

i64 sys_getppid(void)
{
	return READ_ONCE(current->group->parent_tgid);
}

i64 sys_gettid(void)
{
	return current->tid;
}

i64 sys_getuid(void)
{
	return 0;
}

i64 sys_umask(u64 mask)
{
	return 022;
}

i64 sys_getpgid(u64 pid)
{
	struct group *group;
	i64 result = -ESRCH;
	u64 flags = spin_lock_irqsave(&tasks_lock);

	group = (u32)pid ? group_find(pid) : current->group;
	if (group)
		result = group->pgid;
	spin_unlock_irqrestore(&tasks_lock, flags);
	return result;
}

i64 sys_getpgrp(void)
{
	return current->group->pgid;
}

static bool pgid_exists(u32 pgid)
{
	struct list *node;

	list_for_each(node, &all_groups)
		if (list_entry(node, struct group, all)->pgid == pgid)
			return true;
	return false;
}

/* Of the caller or a child. */
i64 sys_setpgid(u64 pid, u64 pgid)
{
	struct group *own = current->group, *group;
	i64 result = 0;
	u64 flags;

	if ((i32)pgid < 0)
		return -EINVAL;
	flags = spin_lock_irqsave(&tasks_lock);
	group = (u32)pid ? group_find(pid) : own;
	if (!group || (group != own && group->parent != own))
		result = -ESRCH;
	else if ((u32)pgid && (u32)pgid != group->tgid && !pgid_exists(pgid))
		result = -EPERM;
	else
		group->pgid = (u32)pgid ? (u32)pgid : group->tgid;
	spin_unlock_irqrestore(&tasks_lock, flags);
	return result;
}

/* All that is left of a session is that its leader leads a process group. */
i64 sys_setsid(void)
{
	struct group *group = current->group;
	i64 result = -EPERM;
	u64 flags = spin_lock_irqsave(&tasks_lock);

	if (!pgid_exists(group->tgid))
		result = group->pgid = group->tgid;
	spin_unlock_irqrestore(&tasks_lock, flags);
	return result;
}

i64 sys_uname(u64 out)
{
	/* glibc wants a Linux, and one that is not too old. */
	static const char names[6][65] = {
		"Linux", "lab", "4.19.0-lab", "#1", "x86_64", "(none)",
	};

	return copy_to_user(out, names, sizeof(names)) ? -EFAULT : 0;
}

i64 sys_sysinfo(u64 out)
{
	struct {
		u64 uptime, loads[3], total, free, shared, buffers, total_swap, free_swap;
		u16 processes, hole;
		u32 hole2;
		u64 total_high, free_high;
		u32 unit, hole3;
	} info = {
		.uptime = time_ns() / 1000000000,
		.total = page_total_count() * PAGE_SIZE,
		.free = page_free_count() * PAGE_SIZE,
		.processes = task_live_count(),
		.unit = 1,
	};

	_Static_assert(sizeof(info) == 112, "Linux uapi/linux/sysinfo.h");
	return copy_to_user(out, &info, sizeof(info)) ? -EFAULT : 0;
}

/* Of the process as it is: threads that ended and those that live. */
static struct usage group_usage(const struct group *group)
{
	struct usage sum = group->usage;
	struct list *node;

	list_for_each(node, &group->tasks) {
		struct usage one = task_usage(list_entry(node, struct task, member));

		usage_add(&sum, &one);
	}
	return sum;
}

/* RUSAGE_*; 0 or -EINVAL. */
static i64 usage_of(i32 who, struct usage *usage)
{
	struct task *task = current;
	u64 flags = spin_lock_irqsave(&tasks_lock);
	i64 result = 0;

	if (who == RUSAGE_SELF)
		*usage = group_usage(task->group);
	else if (who == RUSAGE_CHILDREN)
		*usage = task->group->children_usage;
	else if (who == RUSAGE_THREAD)
		*usage = task_usage(task);
	else
		result = -EINVAL;
	spin_unlock_irqrestore(&tasks_lock, flags);
	return result;
}

static i64 usage_to_user(u64 out, const struct usage *usage, bool compat)
{
	const u64 wide[RUSAGE_FIELDS] = {
		[8] = usage->minor_faults, [16] = usage->voluntary, [17] = usage->involuntary,
	};
	u32 narrow[RUSAGE_FIELDS];

	if (!compat)
		return copy_to_user(out, wide, sizeof(wide)) ? -EFAULT : 0;
	for (u32 i = 0; i < RUSAGE_FIELDS; i++)
		narrow[i] = wide[i];
	return copy_to_user(out, narrow, sizeof(narrow)) ? -EFAULT : 0;
}

static i64 getrusage(i32 who, u64 out, bool compat)
{
	struct usage usage;
	i64 error = usage_of(who, &usage);

	return error ? error : usage_to_user(out, &usage, compat);
}

i64 sys_getrusage(u64 who, u64 out)
{
	return getrusage(who, out, false);
}

i64 compat_getrusage(u64 who, u64 out)
{
	return getrusage(who, out, true);
}

/* Inlined into both, so that the native call costs nothing for the other. */
static __attribute__((always_inline)) inline i64 wait_child(i32 pid, u64 status, u32 options,
							    u64 usage_out, bool compat)
{
	struct usage usage;
	u32 code;
	i64 child = task_wait(pid, options, &code, &usage);

	if (child <= 0)
		return child;
	if ((status && put_user_u32(status, code)) ||
	    (usage_out && usage_to_user(usage_out, &usage, compat)))
		return -EFAULT;
	return child;
}

i64 sys_wait4(u64 pid, u64 status, u64 options, u64 usage_out)
{
	return wait_child(pid, status, options, usage_out, false);
}

i64 compat_wait4(u64 pid, u64 status, u64 options, u64 usage_out)
{
	return wait_child(pid, status, options, usage_out, true);
}

i64 sys_times(u64 out)
{
	static const u64 none[4]; /* times are not accounted */

	if (out && copy_to_user(out, none, sizeof(none)))
		return -EFAULT;
	return time_ns() / 10000000; /* in hundredths of a second */
}

struct limits limits_get(u32 resource)
{
	struct limits limits = { RLIM_INFINITY, RLIM_INFINITY };

	if (resource == RLIMIT_STACK)
		limits.soft = current->group->stack_limit;
	if (resource == RLIMIT_NOFILE)
		limits.soft = limits.hard = MAX_FILES;
	return limits;
}

i64 limits_set(u32 resource, struct limits limits)
{
	if (limits.soft > limits.hard)
		return -EINVAL;
	if (resource == RLIMIT_STACK)
		current->group->stack_limit = limits.soft;
	return 0;
}

i64 sys_prlimit64(u64 pid, u64 resource, u64 limits, u64 old)
{
	struct limits wanted, before;

	if ((u32)resource >= RLIMITS)
		return -EINVAL;
	if ((u32)pid && (u32)pid != current->group->tgid)
		return -ESRCH;
	before = limits_get(resource);
	if (limits) {
		i64 error;

		if (copy_from_user(&wanted, limits, sizeof(wanted)))
			return -EFAULT;
		error = limits_set(resource, wanted);
		if (error)
			return error;
	}
	return old && copy_to_user(old, &before, sizeof(before)) ? -EFAULT : 0;
}

i64 sys_getrlimit(u64 resource, u64 out)
{
	return sys_prlimit64(0, resource, 0, out);
}

i64 sys_setrlimit(u64 resource, u64 limits)
{
	return limits ? sys_prlimit64(0, resource, limits, 0) : -EFAULT;
}

i64 sys_prctl(u64 option, u64 value, u64 value3, u64 value4, u64 value5)
{
	struct task *task = current;
	char name[sizeof(task->name)];
	i64 length;

	switch ((u32)option) {
	case PR_SET_PDEATHSIG:
		if (value > SIGNALS)
			return -EINVAL;
		task->death_signal = value;
		return 0;
	case PR_GET_PDEATHSIG:
		return put_user_u32(value, task->death_signal);
	case PR_SET_NAME:
		memset(name, 0, sizeof(name));
		length = copy_string_from_user(name, value, sizeof(name));
		if (length < 0 && length != -ENAMETOOLONG)
			return length;
		name[sizeof(name) - 1] = '\0'; /* longer ones are cut */
		memcpy(task->name, name, sizeof(name));
		return 0;
	case PR_GET_NAME:
		return copy_to_user(value, task->name, sizeof(task->name)) ? -EFAULT : 0;
	default:
		return -EINVAL;
	}
}

i64 sys_set_tid_address(u64 address)
{
	current->clear_tid = address;
	return current->tid;
}

/* Only its owner's end would need the list, and glibc asks for no more than this answer. */
i64 sys_set_robust_list(u64 head, u64 size)
{
	return 0;
}

i64 sys_personality(u64 persona)
{
	struct group *group = current->group;
	u32 before = group->persona;

	if ((u32)persona != ~0u)
		group->persona = persona;
	return before;
}

/* Less than was asked for is allowed; nothing interrupts the kernel meanwhile. */
i64 sys_getrandom(u64 buffer, u64 count, u64 flags)
{
	u64 done = 0;

	count = min(count, GETRANDOM_MAX);
	while (done < count) {
		u64 bits = random_next(), part = min(count - done, sizeof(bits));

		if (copy_to_user(buffer + done, &bits, part))
			return done ? (i64)done : -EFAULT;
		done += part;
	}
	return done;
}

static bool reboot_magic2(u32 magic)
{
	return magic == 672274793 || magic == 85072278 || magic == 369367448 || magic == 537993216;
}

i64 sys_reboot(u64 magic, u64 magic2, u64 command, u64 argument)
{
	if ((u32)magic != REBOOT_MAGIC || !reboot_magic2((u32)magic2))
		return -EINVAL;
	switch ((u32)command) {
	case REBOOT_RESTART:
	case REBOOT_HALT:
	case REBOOT_POWER_OFF:
		machine_exit(0);
	default:
		return -EINVAL;
	}
}

i64 sys_socket(void)
{
	return -EAFNOSUPPORT;
}

static i64 lab_statistics(u64 out)
{
	struct lab_statistics statistics = {
		.tasks = task_live_count(),
		.free_pages = page_free_count(),
		.objects = kmalloc_live(),
		.files = file_live_count(),
	};

	return copy_to_user(out, &statistics, sizeof(statistics)) ? -EFAULT : 0;
}

i64 sys_lab(u64 command, u64 argument)
{
	switch (command) {
	case LAB_YIELD_FLAGS:
		sched_yield();
		return read_flags();
	case LAB_STATISTICS:
		return lab_statistics(argument);
	case LAB_ROUND_TRIP:
		return lab_round_trip(argument);
	case LAB_NETWORK:
		return virtio_net_statistics(argument);
	case LAB_BKL:
		return bkl_take_counts(argument);
	case LAB_COMMANDS:
		return ioctl_commands(argument);
	case LAB_SOFTIRQ_ARM:
		return lab_softirq_arm(argument);
	case LAB_SOFTIRQ_TAKE:
		return lab_softirq_take(argument);
	case LAB_SOFTIRQ_RAISE:
		return lab_softirq_raise(argument);
	case LAB_SOFTIRQ_COUNTS:
		return lab_softirq_counts(argument);
	default:
		return -EINVAL;
	}
}
