/*
 * The page by which 32-bit programs make system calls: three forms, of which vdso.c maps the one
 * for this CPU at VSYSCALL32_PAGE. vdso.h has the contract between the page and the kernel's
 * entries, which is that of Linux's (arch/x86/entry/vdso/vdso32/system_call.S): ebx, ecx, edx, esi,
 * edi, ebp are the arguments, eax the number and the result; all but eax survive.
 */
#include "../vdso.h"

.macro VSYSCALL32 name, enter, restore
	.balign 16
	.globl vsyscall32_\name
vsyscall32_\name:
	\enter
	\restore
	ret

	.org	vsyscall32_\name + VSYSCALL32_SIGRETURN - VSYSCALL32_PAGE, 0xcc
	pop	%eax			/* the signal's number, on top of the frame */
	mov	$119, %eax		/* sigreturn */
	int	$0x80

	.org	vsyscall32_\name + VSYSCALL32_RT_SIGRETURN - VSYSCALL32_PAGE, 0xcc
	mov	$173, %eax		/* rt_sigreturn */
	int	$0x80
	.org	vsyscall32_\name + VSYSCALL32_SIZE, 0xcc
.endm

	.section .rodata
	.code32
	VSYSCALL32 syscall, "push %ebp; mov %ecx, %ebp; syscall", "mov %ebp, %ecx; pop %ebp"
	VSYSCALL32 sysenter, "push %ecx; push %edx; push %ebp; mov %esp, %ebp; sysenter", \
		"pop %ebp; pop %edx; pop %ecx"
	VSYSCALL32 int80, "int $0x80", ""

/* Three pushes, mov and sysenter: what sysexit must return to. */
.if VSYSCALL32_RETURN - VSYSCALL32_PAGE != 3 + 2 + 2
	.error "VSYSCALL32_RETURN is not after sysenter"
.endif

	.section .note.GNU-stack, "", @progbits
