/*
 * System calls: one table for 64-bit programs, one for 32-bit programs, indexed by number.
 *
 * A handler gets six arguments in the C convention and returns a result or -errno. Those that need
 * the caller's registers find them by task_regs(): they lie at the top of its kernel stack.
 */
#ifndef LAB_SYSCALL_H
#define LAB_SYSCALL_H

#define SYSCALLS 512        /* entries of the 64-bit table; all others are -ENOSYS */
#define SYSCALLS_COMPAT 512

#ifndef __ASSEMBLER__
#include "task.h"
#include "types.h"

typedef i64 (*syscall_handler)(u64, u64, u64, u64, u64, u64);

extern const syscall_handler syscall_table[SYSCALLS];
extern const syscall_handler syscall_table_compat[SYSCALLS_COMPAT];

static inline struct regs *task_regs(struct task *task)
{
	return (struct regs *)(task->kstack_top - REGS_SIZE);
}
#endif

#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define E2BIG 7
#define ENOEXEC 8
#define EBADF 9
#define ECHILD 10
#define EAGAIN 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define ENODEV 19
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOTTY 25
#define EFBIG 27
#define ENOSPC 28
#define ESPIPE 29
#define EROFS 30
#define EPIPE 32
#define ERANGE 34
#define ENAMETOOLONG 36
#define ENOSYS 38
#define ELOOP 40
#define EAFNOSUPPORT 97
#define ETIMEDOUT 110

#endif
