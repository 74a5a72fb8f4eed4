/* The registers of programs that have no place in struct regs: bases, selectors, TLS, FPU. */
#ifndef LAB_PROCESSOR_STATE_H
#define LAB_PROCESSOR_STATE_H

#include "../kernel/task.h"

/* The child of the current task goes on with these registers and result 0, on `stack` if not 0; it
 * has the bases, selectors, TLS and FPU state that the CPU has now. */
void program_fork(struct task *child, const struct regs *regs, u64 stack);
/* CLONE_SETTLS: a base, or for 32-bit programs the address of a struct user_desc; 0 or -errno. */
i64 program_set_tls(struct task *child, u64 tls);
/* The current task's registers become those that a program starts with. */
void program_start(u64 entry, u64 stack, bool compat);

#endif
