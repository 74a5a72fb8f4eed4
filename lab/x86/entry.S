/*
 * Ways into the kernel, and out of it.
 *
 * From user mode each way ends up with a full struct regs at the top of the task's kernel stack,
 * GS the kernel's, interrupts on in system calls and off elsewhere. All but the fast paths of
 * system calls leave by return_to_user: it does what task->work asks for, then loads every
 * register by iret.
 *
 *   way in                  stack        GS                out, if there is no work
 *   syscall                 we load it   swapgs            sysretq
 *   compat syscall          we load it   swapgs            sysretl
 *   sysenter                we load it   swapgs            sysexit
 *   int 0x80                TSS          swapgs            iretq
 *   interrupt               TSS, or the  swapgs if from    iretq
 *                           task's own   user mode
 *   exception               the same,    as it is: see     iretq
 *                           or IST       exception_in_kernel
 *
 * The fast paths don't reload rbx, rbp and r12 to r15: a C function preserves them. Handlers that
 * change registers (exec, sigreturn) set WORK_FRAME, which makes the slow path reload all.
 *
 * Flags (mechanism `flags`): `syscall` clears the flags in MSR_FMASK. Gates clear TF, NT, RF and IF
 * but keep DF and AC, hence cld, and clac where AC means that the kernel may touch user memory.
 * sysenter clears only IF; sysexit restores nothing: sysenter_clean_flags and sysexit_load_flags,
 * below.
 *
 * Sources: Intel SDM volume 2 (SYSCALL, SYSENTER, IRET), volume 3, 6.14; AMD APM volume 2, 6.1;
 * Linux arch/x86/entry/{entry_64,entry_64_compat}.S. TRICKS.md, "Entries", argues the swapgs
 * windows.
 */
#include "../kernel/syscall.h"
#include "../kernel/task.h"
#include "cpu.h"
#include "desc.h"
#include "patch.h"
#include "percpu.h"
#include "regs.h"
#include "vdso.h"

#define CLAC IF_CHOSEN ALTERNATIVE_SMAP, clac
#define STAC IF_CHOSEN ALTERNATIVE_SMAP, stac

/* struct regs below orig_rax; rdi apart, since stubs use it before. */
.macro PUSH_REGS_BUT_RDI
	push	%rsi
	push	%rdx
	push	%rcx
	push	%rax
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
.endm

.macro PUSH_REGS
	push	%rdi
	PUSH_REGS_BUT_RDI
.endm

/* Leaves the stack at rip, cs, rflags, rsp, ss. */
.macro POP_REGS
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rax
	pop	%rcx
	pop	%rdx
	pop	%rsi
	pop	%rdi
	add	$8, %rsp		/* orig_rax */
.endm

/* Interrupts off, then to `slow` if there is work; rax, the result, lives. Clobbers rcx. */
.macro CHECK_WORK slow
	cli
	mov	%gs:PERCPU_CURRENT, %rcx
	cmpl	$0, TASK_WORK(%rcx)
	jne	\slow
.endm

.macro LOAD_CALLER_SAVED
	mov	REGS_R10(%rsp), %r10
	mov	REGS_R9(%rsp), %r9
	mov	REGS_R8(%rsp), %r8
	mov	REGS_RSI(%rsp), %rsi
	mov	REGS_RDI(%rsp), %rdi
.endm

	.text

/*
 * syscall of 64-bit programs: rax number; rdi, rsi, rdx, r10, r8, r9 arguments; rcx rip and r11
 * flags by the CPU. Back: rax; all others but rcx and r11 as they were. rip is canonical, or it
 * could not have been executed from, so sysretq can't fault: page USER_TOP is never mapped.
 */
	.globl	entry_syscall
entry_syscall:
	swapgs
	mov	%rsp, %gs:PERCPU_USER_RSP
	mov	%gs:PERCPU_KSTACK, %rsp
	push	$USER_DS
	push	%gs:PERCPU_USER_RSP
	push	%r11
	push	$USER_CS
	push	%rcx
	push	%rax
	PUSH_REGS
	sti
	cmp	$SYSCALLS, %rax
	jae	1f
	mov	%r10, %rcx
	call	*syscall_table(, %rax, 8)
0:	CHECK_WORK syscall_work
	LOAD_CALLER_SAVED
	mov	REGS_RDX(%rsp), %rdx
	mov	REGS_RIP(%rsp), %rcx
	mov	REGS_RFLAGS(%rsp), %r11
	mov	REGS_RSP(%rsp), %rsp
	swapgs
	sysretq
1:	mov	$-ENOSYS, %rax
	jmp	0b

syscall_work:
	mov	%rax, REGS_RAX(%rsp)
/* rsp: the task's struct regs. Interrupts off. */
return_to_user:
	mov	%gs:PERCPU_CURRENT, %rax
	cmpl	$0, TASK_WORK(%rax)
	je	1f
	mov	%rsp, %rdi
	call	exit_work
1:
to_user:
	swapgs
	POP_REGS
user_iret:
	iretq

/*
 * iretq refused the program's frame (a bad selector from sigreturn, NT in the kernel's flags), and
 * trap() sends us here: user registers, user GS, that frame on the stack, interrupts off.
 */
iret_refused:
	push	$-1
	PUSH_REGS
	swapgs
	mov	%rsp, %rdi
	call	user_iret_failed
	cli
	jmp	return_to_user

	.pushsection .fixups, "a"
	.quad	user_iret, iret_refused
	.popsection

/* To user mode for the first time, by the registers at the top of the stack. */
	.globl	enter_user
enter_user:
	cli
	mov	%gs:PERCPU_KSTACK, %rsp
	sub	$REGS_SIZE, %rsp
	jmp	return_to_user

/* Where finish_switch() returns to in a new task (task_first_frame): rbx body, or 0; r12
 * argument. */
	.globl	ret_from_fork
ret_from_fork:
	sti
	test	%rbx, %rbx
	jnz	1f
	call	task_first_return
	cli
	jmp	return_to_user
1:	mov	%r12, %rdi
	call	*%rbx
	xor	%edi, %edi
	call	task_exit

/*
 * System calls of 32-bit programs: rax number; ebx, ecx, edx, esi, edi, ebp arguments. The C
 * convention wants them zero-extended in rdi, rsi, rdx, rcx, r8, r9. Result in rax; to 1f with a
 * wild number.
 */
.macro CALL_COMPAT sixth
	cmp	$SYSCALLS_COMPAT, %eax
	jae	1f
	.ifnb \sixth
	mov	\sixth, %r9d
	.endif
	mov	%edi, %r8d
	mov	%ebx, %edi
	mov	%edx, %edx
	xchg	%ecx, %esi		/* ecx second, esi fourth */
	call	*syscall_table_compat(, %rax, 8)
.endm

	.globl	entry_int80
entry_int80:
	swapgs
	mov	%eax, %eax
	push	%rax
	PUSH_REGS
	cld
	CLAC
	sti
	CALL_COMPAT %ebp
0:	mov	%rax, REGS_RAX(%rsp)
	cli
	jmp	return_to_user
1:	mov	$-ENOSYS, %rax
	jmp	0b

/* The sixth argument of the fast entries lies on the program's stack, at `place`; vdso.h. */
.macro LOAD_SIXTH place
	STAC
770:	mov	\place, %r9d
	CLAC
	.pushsection .fixups, "a"
	.quad	770b, 2f
	.popsection
.endm

/*
 * syscall of 32-bit programs (AMD; every CPU under TCG): as from vsyscall32.S, the second
 * argument in ebp; ecx eip and r11 flags by the CPU. sysretl takes them back from there.
 */
	.globl	entry_syscall_compat
entry_syscall_compat:
	swapgs
	mov	%esp, %esp
	mov	%rsp, %gs:PERCPU_USER_RSP
	mov	%gs:PERCPU_KSTACK, %rsp
	push	$USER_DS
	push	%gs:PERCPU_USER_RSP
	push	%r11
	push	$USER_CS32
	push	%rcx
	mov	%eax, %eax
	push	%rax
	mov	%ebp, %ecx
	PUSH_REGS
	sti
	mov	REGS_RSP(%rsp), %r8
	LOAD_SIXTH (%r8)
	CALL_COMPAT
0:	CHECK_WORK syscall_work
	LOAD_CALLER_SAVED
	mov	REGS_RDX(%rsp), %rdx
	mov	REGS_RIP(%rsp), %rcx
	mov	REGS_RFLAGS(%rsp), %r11
	mov	REGS_RSP(%rsp), %rsp
	swapgs
	sysretl
1:	mov	$-ENOSYS, %rax
	jmp	0b
2:	CLAC
	mov	$-EFAULT, %rax
	jmp	0b

/*
 * sysenter of 32-bit programs (Intel): ebp their stack, where the sixth argument is; they go on at
 * VSYSCALL32_RETURN with ecx and edx lost. A single step comes here too, see trap.c.
 */
	.globl	entry_sysenter, entry_sysenter_end
entry_sysenter:
	swapgs
	mov	%gs:PERCPU_KSTACK, %rsp
	push	$USER_DS
	mov	%ebp, %ebp
	push	%rbp
	pushfq
	orl	$FLAG_IF, (%rsp)
	STATIC_CALL sysenter_clean_flags
entry_sysenter_end:
	push	$USER_CS32
	push	$0			/* an address above 2 GiB does not fit a push */
	movl	$VSYSCALL32_RETURN, (%rsp)
	mov	%eax, %eax
	push	%rax
	PUSH_REGS
	cld
	sti
	LOAD_SIXTH (%rbp)
	CALL_COMPAT
0:	CHECK_WORK syscall_work
	LOAD_CALLER_SAVED
	mov	REGS_R11(%rsp), %r11
	mov	REGS_RIP(%rsp), %rdx
	mov	REGS_RSP(%rsp), %rcx
	STATIC_CALL sysexit_load_flags
	swapgs
	sti				/* holds interrupts off until after sysexit */
	sysexitl
1:	mov	$-ENOSYS, %rax
	jmp	0b
2:	CLAC
	mov	$-EFAULT, %rax
	jmp	0b

/*
 * The two keys of flags=entry-clean; in the other variants the calls are nops, and a program's NT
 * and AC go into the kernel, and some task's come out. No register is changed; interrupts are
 * off.
 */
	.globl	sysenter_clean_flags, sysexit_load_flags
sysenter_clean_flags:
	testl	$(FLAG_NT | FLAG_AC | FLAG_TF | FLAG_IOPL | FLAG_ID), 8(%rsp)
	jnz	1f
	ret
1:	push	$FLAG_ONE
	popfq
	ret

sysexit_load_flags:
	push	REGS_RFLAGS + 8(%rsp)
	andl	$~(FLAG_IF | FLAG_TF), (%rsp)
	popfq
	ret

/* Interrupts: a C function without arguments, interrupts off. */
.macro INTERRUPT name, handler
	.globl	entry_\name
entry_\name:
	push	$-1
	push	%rdi
	mov	$\handler, %rdi
	jmp	interrupt_common
.endm

	INTERRUPT timer, timer_interrupt
	INTERRUPT reschedule, smp_reschedule_interrupt
	INTERRUPT flush_tlb, smp_flush_interrupt
	INTERRUPT stop, smp_stop_interrupt
	INTERRUPT network, virtio_net_interrupt
	INTERRUPT test, test_interrupt

/* The test device is told what it interrupts: the registers, above the return address. */
test_interrupt:
	lea	8(%rsp), %rdi
	jmp	softirq_test_interrupt

	.globl	entry_spurious
entry_spurious:
	iretq				/* no end of interrupt: Intel SDM volume 3, 11.9 */

/*
 * At the end of an interrupt softirqs run if raising them noted that this is the place
 * (softirq.c). The way to user mode is return_to_user's, except in softirq=syscall-return.
 */
.macro CALL_HANDLER from
	movl	$\from, %gs:PERCPU_IRQ_CONTEXT
	call	*%rdi
	movl	$0, %gs:PERCPU_IRQ_CONTEXT
	cmpl	$0, %gs:PERCPU_SOFTIRQ_LOOK
.endm

interrupt_common:
	PUSH_REGS_BUT_RDI
	cld
	CLAC
	testb	$3, REGS_CS(%rsp)
	jz	2f
	swapgs
	CALL_HANDLER IRQ_FROM_USER
	jne	1f
0:	mov	%gs:PERCPU_CURRENT, %rax
	cmpl	$0, TASK_WORK(%rax)
	je	to_user
	mov	%rsp, %rdi
	STATIC_CALL exit_work
	jmp	to_user
1:	STATIC_CALL softirq_run
	jmp	0b
2:	CALL_HANDLER IRQ_FROM_KERNEL
	jne	4f
3:	POP_REGS
	iretq
4:	STATIC_CALL softirq_run
	jmp	3b

/*
 * Exceptions: trap(regs, vector, error). The stub of each pushes an error code if the CPU did
 * not, where orig_rax will be.
 */
.macro EXCEPTION vector, error=0
exception_\vector:
	.if \error == 0
	push	$0
	.endif
	push	%rdi
	mov	$\vector, %edi
	jmp	exception_common
	.pushsection .rodata
	.quad	exception_\vector
	.popsection
.endm

	.pushsection .rodata
	.balign	8
	.globl	exception_entries
exception_entries:
	.popsection

	.irp	vector, 0, 1, 2, 3, 4, 5, 6, 7
	EXCEPTION \vector
	.endr
	EXCEPTION 8, error=1
	EXCEPTION 9
	.irp	vector, 10, 11, 12, 13, 14
	EXCEPTION \vector, error=1
	.endr
	EXCEPTION 15
	EXCEPTION 16
	EXCEPTION 17, error=1
	.irp	vector, 18, 19, 20
	EXCEPTION \vector
	.endr
	EXCEPTION 21, error=1
	.irp	vector, 22, 23, 24, 25, 26, 27, 28
	EXCEPTION \vector
	.endr
	EXCEPTION 29, error=1
	EXCEPTION 30, error=1
	EXCEPTION 31

.macro CALL_TRAP
	mov	%rsp, %rdi
	mov	REGS_ORIG_RAX(%rsp), %rdx
	movq	$-1, REGS_ORIG_RAX(%rsp)
	call	trap
	cli
.endm

exception_common:
	PUSH_REGS_BUT_RDI
	cld
	CLAC
	mov	%edi, %ebx		/* vector */
	testb	$3, REGS_CS(%rsp)
	jz	exception_in_kernel
	swapgs
	/* Those with an IST stack go on on the task's: the program may have to wait. */
	mov	%gs:PERCPU_KSTACK, %rdi
	sub	$REGS_SIZE, %rdi
	cmp	%rdi, %rsp
	je	1f
	mov	%rsp, %rsi
	mov	%rdi, %rax
	mov	$REGS_SIZE / 8, %ecx
	rep movsq
	mov	%rax, %rsp
1:	mov	%ebx, %esi
	CALL_TRAP
	jmp	return_to_user

/*
 * In the kernel an exception may come while GS is still, or again, the program's: an NMI or a
 * step anywhere, a fault of iretq or of loading a selector between two swapgs. The kernel's base
 * is the only one with its sign bit set, since programs can't have such a base (CR4.FSGSBASE is
 * off).
 */
exception_in_kernel:
	mov	%ebx, %esi
	xor	%ebx, %ebx		/* 1: swap back */
	mov	$MSR_GS_BASE, %ecx
	rdmsr
	test	%edx, %edx
	js	1f
	swapgs
	inc	%ebx
1:	CALL_TRAP
	test	%ebx, %ebx
	jz	2f
	swapgs
2:	POP_REGS
	iretq

	.section .note.GNU-stack, "", @progbits
