/* Signals: numbers, actions and frames of Linux's x86-64 and i386 ABIs (signal(7)). */
#ifndef LAB_SIGNAL_H
#define LAB_SIGNAL_H

#include "lock.h"
#include "types.h"

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGURG 23
#define SIGWINCH 28
#define SIGNALS 64

#define SIG_DFL 0
#define SIG_IGN 1
#define SA_SIGINFO 0x00000004
#define SA_RESTORER 0x04000000
#define SA_ONSTACK 0x08000000
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND 0x80000000u

#define SA_NOCLDWAIT 0x00000002

#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define SI_USER 0
#define SI_KERNEL 0x80
#define SI_TKILL (-6)
#define CLD_EXITED 1
#define CLD_KILLED 2

struct regs;
struct task;
struct group;

/* struct kernel_sigaction of x86-64. */
struct sigaction {
	u64 handler, flags, restorer, mask;
};

/* A process's actions; changed and read with tasks_lock held. */
struct sigaction_table {
	u32 references; /* processes, atomically */
	struct sigaction action[SIGNALS + 1];
};

struct signal_info {
	u32 number;
	i32 code;
	u64 address; /* of a fault; else the sender's pid, and for SIGCHLD its status << 32 */
};

/* One of each number may wait, as with Linux's standard signals. */
struct signal_pending {
	u64 set; /* bit n - 1: signal n */
	struct signal_info info[SIGNALS + 1];
};

static inline u64 signal_bit(u32 number) { return 1ul << (number - 1); }

/* Sends to one thread or to a process. With tasks_lock held; safe in interrupts. */
void signal_send_task(struct task *task, const struct signal_info *info);
void signal_send_group(struct group *group, const struct signal_info *info);
/* kill(2): pid, 0, -1, -pgid; 0 or -ESRCH, -EINVAL. Number 0 only asks whether there is one. */
i64 signal_kill(i64 pid, u32 number);
/* A fault of the current task: the signal can't be blocked or ignored. */
void signal_force(u32 number, int code, u64 address);
/* Whether a signal waits that the current task would take now. */
bool signal_pending(void);
/* Before return to user mode, interrupts on: takes one signal, builds its frame, or ends the
 * process. Restarts the interrupted system call, or not, as its result asks (-ERESTART*). */
void signal_deliver(struct regs *regs);

/* Results of interrupted calls, never seen by programs (Linux include/linux/errno.h): they are made
 * again, or -EINTR, after a handler ran. Without a handler all are made again. */
#define ERESTARTSYS 512    /* again if the action has SA_RESTART */
#define ERESTARTNOINTR 513 /* always again */
#define ERESTARTNOHAND 514 /* -EINTR */

#endif
