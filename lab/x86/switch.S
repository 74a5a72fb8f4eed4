/*
 * The switch from one kernel stack to another, one form per variant of `flags`.
 *
 *	void switch_FORM(struct task *prev, struct task *next);
 *
 * rdi prev, rsi next. Keeps rbx, rbp and r12 to r15, all that a C caller counts on. It goes on,
 * on next's stack, into finish_switch(prev), which returns to where next once called one of
 * these; a new task's stack is laid out by task_first_frame() in context.c. Interrupts are off
 * all the time.
 *
 *   save        flags are pushed on the old stack and popped on the new, as Linux of 2006 did
 *   constant    the same, but what is pushed is a constant of the task: Chuck Ebbert's patch of
 *               November 2006; a popf remains, and cleans what another task left
 *   iopl-only   nothing but the IOPL, if the two differ: what remains if that popf goes as well
 *   plain       nothing: entries have cleaned the flags already (entry-clean)
 *
 * Sources: Linux arch/i386/kernel/process.c and include/asm-i386/system.h (2.6.18), today's
 * arch/x86/entry/entry_64.S (__switch_to_asm).
 */
#include "../kernel/task.h"
#include "cpu.h"

/* task->eflags & FLAG_IOPL is bits 12 and 13: bits 4 and 5 of the second byte. */
#define IOPL_BYTE (TASK_EFLAGS + 1)
#define IOPL_BITS (FLAG_IOPL >> 8)

.macro SAVE_AND_CHANGE_STACK flags:vararg
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	\flags
	mov	%rsp, TASK_RSP(%rdi)
	mov	TASK_RSP(%rsi), %rsp
.endm

.macro RESTORE_AND_FINISH
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	jmp	finish_switch
.endm

	.text
	.globl	switch_save, switch_constant, switch_iopl_only, switch_plain

switch_save:
	SAVE_AND_CHANGE_STACK pushfq
	popfq
	RESTORE_AND_FINISH

switch_constant:
	SAVE_AND_CHANGE_STACK push TASK_EFLAGS(%rdi)
	popfq
	RESTORE_AND_FINISH

switch_iopl_only:
	SAVE_AND_CHANGE_STACK
	mov	IOPL_BYTE(%rdi), %al
	xor	IOPL_BYTE(%rsi), %al
	test	$IOPL_BITS, %al
	jnz	1f
0:	RESTORE_AND_FINISH
1:	pushfq
	andl	$~FLAG_IOPL, (%rsp)
	mov	TASK_EFLAGS(%rsi), %eax
	and	$FLAG_IOPL, %eax
	or	%eax, (%rsp)
	popfq
	jmp	0b

switch_plain:
	SAVE_AND_CHANGE_STACK
	RESTORE_AND_FINISH

	.section .note.GNU-stack, "", @progbits
