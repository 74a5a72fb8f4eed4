/*
 * Registers of a user program in the kernel, as entry.S pushes them: the layout of Linux's pt_regs.
 *
 * entry.S uses the offsets REGS_*; the assertions below tie the two together.
 */
#ifndef LAB_REGS_H
#define LAB_REGS_H

#define REGS_R15 0
#define REGS_R14 8
#define REGS_R13 16
#define REGS_R12 24
#define REGS_RBP 32
#define REGS_RBX 40
#define REGS_R11 48
#define REGS_R10 56
#define REGS_R9 64
#define REGS_R8 72
#define REGS_RAX 80
#define REGS_RCX 88
#define REGS_RDX 96
#define REGS_RSI 104
#define REGS_RDI 112
#define REGS_ORIG_RAX 120 /* number of the system call; -1: none, but a trap or an interrupt */
#define REGS_RIP 128
#define REGS_CS 136
#define REGS_RFLAGS 144
#define REGS_RSP 152
#define REGS_SS 160
#define REGS_SIZE 168

#ifndef __ASSEMBLER__
#include "../kernel/types.h"

struct regs {
	u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
	u64 orig_rax;
	u64 rip, cs, rflags, rsp, ss;
};

_Static_assert(sizeof(struct regs) == REGS_SIZE, "entry.S");
_Static_assert(offsetof(struct regs, rax) == REGS_RAX, "entry.S");
_Static_assert(offsetof(struct regs, orig_rax) == REGS_ORIG_RAX, "entry.S");
_Static_assert(offsetof(struct regs, rip) == REGS_RIP, "entry.S");

static inline bool regs_user(const struct regs *regs) { return regs->cs & 3; }
/* A 32-bit program's registers. */
static inline bool regs_compat(const struct regs *regs) { return regs->cs == 0x23; }
#endif

#endif
