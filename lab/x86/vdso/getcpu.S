/*
 * int __vdso_getcpu(unsigned *cpu, unsigned *node, struct getcpu_cache *cache), always 0.
 *
 *	rdi, rsi	where to store the two numbers, or NULL
 *	rdx		caller's cache, or NULL: two words, tick and number as read in that tick
 *
 * One image a method, made with -DMETHOD_lsl and so on, and -DCACHE for getcpu-cache=on. Without
 * CACHE the cache argument is ignored, as Linux has done since 2.6.24. With it, an answer may be as
 * old as the current tick: a task that moved since then hears of the CPU it was on. That was the
 * bargain of 2006; getcpu promises no more, since a task may move right after any answer.
 *
 * METHOD_mode is getcpu-mode=on, the function before the patch of 2007: a variable names the way at
 * each call, and a cache that held the answer is written all the same.
 *
 * The number is cpu << node-bits | node. The kernel writes node-bits and the node's mask into the
 * instructions at the places that .patches lists, before it maps the image: in the patch of 2007
 * they were constants of the build.
 */
#include "../vdso.h"

.macro READ_LSL
	mov	$(15 << 3 | 3), %eax	/* GDT_CPUNODE, privilege 3 */
	lsl	%eax, %eax
.endm

.macro READ_RDTSCP
	rdtscp
	mov	%ecx, %eax
.endm

/* eax = the number. May use rcx, rdx, r11 and the red zone; rdi, rsi, r8, r9 must survive. */
.macro READ_NUMBER
#if defined(METHOD_syscall)
	push	%rdi
	push	%rsi
	sub	$8, %rsp
	mov	%rsp, %rdi
	lea	4(%rsp), %rsi
	mov	$309, %eax		/* getcpu */
	syscall
	mov	(%rsp), %eax
.Lshift_back:
	shl	$8, %eax
	or	4(%rsp), %eax
	add	$8, %rsp
	pop	%rsi
	pop	%rdi
#elif defined(METHOD_cpuid)
	mov	%rbx, %r11
	mov	$1, %eax
	cpuid
	shr	$24, %ebx		/* initial APIC id */
	lea	vdso_data + VDSO_CPU_VALUES(%rip), %rax
	mov	(%rax, %rbx, 4), %eax
	mov	%r11, %rbx
#elif defined(METHOD_lsl)
	READ_LSL
#elif defined(METHOD_rdtscp)
	READ_RDTSCP
#elif defined(METHOD_mode)
	cmpl	$VDSO_MODE_RDTSCP, vdso_data + VDSO_MODE(%rip)
	jne	.Llsl
	READ_RDTSCP
	jmp	.Lnumber
.Llsl:
	READ_LSL
.Lnumber:
#elif defined(METHOD_rdpid)
	rdpid	%rax
#elif defined(METHOD_sgdt)
	sgdt	-18(%rsp)		/* limit at -18, base at -16: aligned */
	movzwl	-18(%rsp), %eax
	sub	$GETCPU_GDT_LIMIT, %eax
#elif defined(METHOD_sidt)
	sidt	-18(%rsp)
	movzwl	-18(%rsp), %eax
	sub	$GETCPU_IDT_LIMIT, %eax
#elif defined(METHOD_sldt)
	sldt	%eax
	shr	$3, %eax
	sub	$GETCPU_LDT_INDEX, %eax
#else
#error "which method?"
#endif
.endm

	.text
	.globl __vdso_getcpu
	.type __vdso_getcpu, @function
__vdso_getcpu:
#if defined(METHOD_syscall) && !defined(CACHE)
	mov	$309, %eax
	syscall
	ret
#else
#ifdef CACHE
	mov	%rdx, %r9
	test	%rdx, %rdx
	jz	.Lread
	mov	vdso_data + VDSO_TICKS(%rip), %r8
	mov	8(%rdx), %rax
	cmp	%r8, (%rdx)
#ifdef METHOD_mode
	je	.Lkeep
#else
	je	.Lsplit
#endif
.Lread:
	READ_NUMBER
.Lkeep:
	test	%r9, %r9
	jz	.Lsplit
	mov	%r8, (%r9)
	mov	%rax, 8(%r9)
#else
	READ_NUMBER
#endif
.Lsplit:
	test	%rdi, %rdi
	jz	.Lnode
	mov	%eax, %ecx
.Lshift:
	shr	$8, %ecx
	mov	%ecx, (%rdi)
.Lnode:
	test	%rsi, %rsi
	jz	.Ldone
.Lmask:
	.byte	0x25			/* and $imm32, %eax */
	.long	0
	mov	%eax, (%rsi)
.Ldone:
	xor	%eax, %eax
	ret
#endif
	.size __vdso_getcpu, . - __vdso_getcpu

	.weak getcpu
	.set getcpu, __vdso_getcpu

/* struct vdso_patches: each the way from itself to an immediate, 0 for none. */
	.section .patches, "a"
#if defined(METHOD_syscall) && !defined(CACHE)
	.long	0, 0, 0
#else
	.long	.Lshift + 2 - .
	.long	.Lmask + 1 - .
#ifdef METHOD_syscall
	.long	.Lshift_back + 2 - .
#else
	.long	0
#endif
#endif

	.section .note.GNU-stack, "", @progbits
