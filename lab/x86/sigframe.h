/*
 * Signal frames: what a handler finds on its stack, and what its return restores.
 *
 * Layouts: Linux arch/x86/include/asm/sigframe.h, uapi/asm/{sigcontext,ucontext}.h,
 * uapi/asm-generic/siginfo.h. What does not matter here is left zero.
 */
#ifndef LAB_SIGFRAME_H
#define LAB_SIGFRAME_H

#include "../kernel/signal.h"
#include "fpu.h"
#include "regs.h"

/* Builds the frame of the current task's program and makes `regs` run the handler; `blocked` is the
 * mask to be restored. False: its stack can't hold it, or the action is not usable. */
bool sigframe_build(struct regs *regs, const struct signal_info *info,
		    const struct sigaction *action, u64 blocked);
bool sigframe_build_compat(struct regs *regs, const struct signal_info *info,
			   const struct sigaction *action, u64 blocked);

/* For both kinds of programs. The stack that the handler shall have: its top. */
u64 sigframe_stack(const struct regs *regs, const struct sigaction *action, u64 red_zone);
/* SS_ONSTACK, SS_DISABLE or 0: the state of the alternate stack, seen from `rsp`. */
u32 alt_stack_flags(u64 rsp);
i64 alt_stack_set(u64 rsp, u64 address, u64 size, u32 flags);
/* A state that a program hands over, with what the CPU would refuse taken out, into the CPU. */
void fpu_load_user(struct fpu_state *state);
/* What programs may change of their flags by sigreturn; the rest stays. */
u64 sigframe_flags(u64 now, u64 wanted);
void fpu_load_initial(void);

#endif
