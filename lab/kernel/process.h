/* What the files about processes and signals share among themselves; see task.h and signal.h. */
#ifndef LAB_PROCESS_H
#define LAB_PROCESS_H

#include "task.h"

#define DEFAULT_STACK_LIMIT (8ul << 20) /* RLIMIT_STACK of the first program, as Linux's */

extern struct list all_groups; /* living processes and zombies, by age */

/* task.c */
int task_become_init(void);
void task_rename(struct task *task, u32 tid); /* with tasks_lock held */
void group_put(struct group *group);

/* exit.c. Ends all other threads of the process and waits until they have; the caller becomes its
 * leader. 0, or -EAGAIN if another thread does that, or all shall end. */
i64 end_other_threads(void);
/* CLONE_CHILD_CLEARTID, at the end of a thread or of its program. */
void clear_tid(struct task *task);
void usage_add(struct usage *to, const struct usage *from);
struct usage task_usage(const struct task *task);

/* signal.c */
struct sigaction_table *actions_create(const struct sigaction_table *from); /* NULL: all default */
struct sigaction_table *actions_get(struct sigaction_table *actions);
void actions_put(struct sigaction_table *actions);
void signal_kill_others(struct group *group);            /* with tasks_lock held */
void signal_set_blocked(u64 blocked);                    /* the current task's mask */
i64 signal_set_action(u32 number, const struct sigaction *action, struct sigaction *old);

/* sys_task.c */
struct limits {
	u64 soft, hard;
};
struct limits limits_get(u32 resource);
i64 limits_set(u32 resource, struct limits limits);

/* sys_time.c. A user's time in ns, very long ones cut; 0, -EFAULT or -EINVAL. */
i64 timespec_from_user(u64 *ns, u64 from);
i64 compat_timespec_from_user(u64 *ns, u64 from);
void itimer_expired(struct timer *timer);
void itimer_stop(struct group *group);

/* futex.c: wakes up to `count` tasks that wait on the word. */
i64 futex_wake(u64 address, bool private, u32 count, u32 bits);

#endif
