/*
 * Tasks: threads and processes, as Linux sees them. A process is a group of tasks (tgid) that share
 * memory, files and signal handlers; the group's first task is its leader.
 *
 * A task is freed as soon as it has ended, even if its parent waits for it: what wait4(2) reports
 * is kept in the group. No task frees the stack that it runs on: finish_switch() does, on the next
 * one's.
 */
#ifndef LAB_TASK_H
#define LAB_TASK_H

#define TASK_RSP 0   /* for switch.S */
#define TASK_WORK 8  /* for entry.S */
#define TASK_EFLAGS 16

/* Work before return to user mode, in task->work; entry.S only tests for nonzero. */
#define WORK_RESCHEDULE 1u
#define WORK_SIGNAL 2u
#define WORK_IO_BITMAP 4u /* iobitmap=lazy: the TSS must be made this task's before user mode */
#define WORK_FRAME 8u     /* sigreturn or exec changed the registers: all are restored, by iret */
#define WORK_SOFTIRQ 16u  /* softirq=syscall-return, irq-return: run pending ones on the way out */

#ifndef __ASSEMBLER__
#include "../x86/percpu.h"
#include "../x86/regs.h"
#include "list.h"
#include "lock.h"
#include "mm.h"
#include "signal.h"
#include "time.h"
#include "types.h"

#define KSTACK_ORDER 2 /* 16 KiB */
#define KSTACK_SIZE (PAGE_SIZE << KSTACK_ORDER)
#define KSTACK_MAGIC 0x6c61626b73746163ul /* at each stack's lowest word */

enum task_state { TASK_RUNNING, TASK_SLEEPING, TASK_UNINTERRUPTIBLE, TASK_DEAD };

#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define LEVEL_OTHER 99 /* run-queue level; SCHED_FIFO priority p has level 99 - p */

struct files;
struct io_bitmap;
struct group;

struct task {
	u64 rsp;               /* kernel stack pointer while it does not run */
	u32 work;              /* WORK_*, set by others with atomic or */
	u32 state;             /* enum task_state */
	/* With flags=constant what the switch restores; IOPL only for iopl-only. */
	u64 eflags;
	void *kstack;          /* lowest address */
	u64 kstack_top;
	struct mm *mm;         /* NULL: a kernel thread */
	void *fpu;             /* 512 bytes for fxsave, 64-byte aligned */
	u64 fs_base, gs_base;
	u16 fs, gs, ds, es;    /* selectors, nonzero only if the program loaded some */
	u64 tls[3];            /* descriptors of 32-bit programs' set_thread_area */
	struct io_bitmap *io_bitmap; /* NULL: no port */

	u32 level;             /* run-queue level */
	u32 policy;            /* SCHED_* */
	u32 priority;          /* 1..99 for SCHED_FIFO */
	u64 affinity;          /* bit n: may run on CPU n */
	u32 cpu;               /* whose run queue it belongs to */
	bool on_cpu;           /* still on its stack there: may not be run elsewhere yet */
	bool queued;
	u32 bkl_depth;         /* times it took the big kernel lock and did not let go of it */
	u64 slice;             /* ticks left, SCHED_OTHER */
	struct list run;       /* in a level of a run queue */
	struct list wait;      /* in a wait queue */
	/* Switches, as getrusage(2) counts: sched_yield is involuntary. */
	u64 voluntary, involuntary;
	u64 minor_faults;

	u32 tid;
	u64 clear_tid;         /* CLONE_CHILD_CLEARTID */
	u64 set_tid;           /* CLONE_CHILD_SETTID, done on first return */
	u32 death_signal;      /* PR_SET_PDEATHSIG */
	struct group *group;
	struct list member;    /* in group->tasks */
	struct list hash;      /* all tasks by tid */
	struct list futex;     /* in a futex bucket */
	u64 futex_key[2];
	u32 futex_bits;        /* FUTEX_WAIT_BITSET's */

	struct files *files;
	struct signal_pending signals; /* to this thread */
	u32 forced;            /* a fault's signal that waits: taken first; 0: none */
	u64 blocked;           /* signal mask */
	u64 saved_blocked;     /* sigsuspend: what the handler's return shall restore */
	bool restore_blocked;  /* saved_blocked has a meaning */
	u64 alt_stack, alt_stack_size;
	char name[16];
};

_Static_assert(offsetof(struct task, rsp) == TASK_RSP, "switch.S");
_Static_assert(offsetof(struct task, work) == TASK_WORK, "entry.S");
_Static_assert(offsetof(struct task, eflags) == TASK_EFLAGS, "switch.S");

/* What getrusage(2) tells; times are not accounted. */
struct usage {
	u64 voluntary, involuntary, minor_faults;
};

/* A process. */
struct group {
	u32 tgid;
	u32 pgid;
	u32 threads;           /* living */
	struct task *leader;   /* NULL once it ended */
	struct list tasks;
	struct group *parent;
	u32 parent_tgid;       /* its number, to be read without a lock; 0: none */
	struct list children, sibling;
	bool exiting;          /* all threads shall end with exit_status */
	struct task *exec_task; /* whose exec ends all other threads */
	bool zombie;           /* all threads ended; waits for wait4 */
	u32 exit_status;       /* as wait4 gives it */
	bool stopped;          /* by SIGSTOP and its kind; until SIGCONT or SIGKILL */
	u32 exit_signal;       /* to the parent; SIGCHLD from fork */
	struct wait_queue *child_wait;
	struct sigaction_table *actions; /* reference-counted: CLONE_SIGHAND */
	struct signal_pending signals;   /* to any thread */
	struct spinlock itimer_lock;     /* for setting the timer; plain */
	struct timer itimer;             /* ITIMER_REAL */
	u64 itimer_interval;             /* TSC; 0: once */
	bool itimer_armed;
	u64 stack_limit;                 /* RLIMIT_STACK, soft */
	u32 persona;                     /* personality(2): remembered, no more */
	struct usage usage;              /* of threads that ended */
	struct usage children_usage;     /* of children waited for, and theirs */
	struct list all;       /* all processes */
	u32 references;        /* tasks not yet freed, and one until it is waited for */
};

/* All trees and lists of tasks and groups, pending signals, exit and stop; irqsave, since timers
 * send signals. No address space's lock is taken under it. */
extern struct spinlock tasks_lock;

struct task *task_find(u32 tid);                 /* with tasks_lock held */
struct group *group_find(u32 tgid);              /* with tasks_lock held */
void tasks_init(void);
/* A kernel thread, not yet on a run queue; NULL without memory. */
struct task *task_create_kernel(const char *name, void (*body)(void *), void *argument);
i64 task_clone(const struct regs *regs, u64 flags, u64 stack, u64 parent_tid, u64 child_tid,
	       u64 tls);
_Noreturn void task_exit(u32 status);            /* this thread */
_Noreturn void task_exit_group(u32 status);      /* this process; status as wait4 gives it */
/* wait4(2), results to the kernel's memory. */
i64 task_wait(i64 pid, u32 options, u32 *status, struct usage *usage);
/* Called by finish_switch() for a task in state TASK_DEAD: frees its stack, FPU area and itself. */
void task_free(struct task *task);
/* Called by ret_from_fork in a new user task, on its way to user mode: CLONE_CHILD_SETTID. */
void task_first_return(void);
u64 task_live_count(void);
/* The calling kernel thread becomes process 1, running the program at `path`, or panics. */
_Noreturn void exec_init(const char *path);
#endif

#endif
