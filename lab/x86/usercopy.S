/*
 * The instructions that touch user memory; usercopy.c checks bounds before. With SMAP, AC is set
 * around them only (Intel SDM volume 3, 4.6.1). Each that may fault has an entry in .fixups.
 *
 * All have the C convention: arguments in rdi, rsi, rdx; result in rax; they change these, rcx and,
 * where named, r8. DF is clear.
 */
#include "patch.h"

#define EFAULT 14

	.text

/* stac or clac where the CPU has SMAP, else nothing. */
.macro USER_ACCESS instruction
771:	.skip	3, 0x90
772:
	.pushsection .alternatives, "a"
	.quad	771b, 773f
	.long	772b - 771b, 774f - 773f
	.quad	ALTERNATIVE_SMAP
	.popsection
	.pushsection .alternative_text, "a"
773:	\instruction
774:
	.popsection
.endm

/* A fault at `fault` goes on at `resume`. */
.macro FIXUP fault, resume
	.pushsection .fixups, "a"
	.quad	\fault, \resume
	.popsection
.endm

.macro FUNCTION name
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
.endm

.macro END name
	.size	\name, . - \name
.endm

/*
 * u64 user_copy(void *to, const void *from, u64 count): bytes not copied.
 * Whole words first: rep costs by the iteration.
 */
FUNCTION user_copy
	mov	%rdx, %rcx
	shr	$3, %rcx
	and	$7, %edx
	USER_ACCESS stac
1:	rep movsq
	mov	%edx, %ecx
2:	rep movsb
	USER_ACCESS clac
	mov	%rcx, %rax
	ret
3:	lea	(%rdx, %rcx, 8), %rcx	/* of a word that straddles a page nothing counts */
4:	USER_ACCESS clac
	mov	%rcx, %rax
	ret
	FIXUP	1b, 3b
	FIXUP	2b, 4b
END user_copy

/* u64 user_clear(u64 to, u64 count): bytes not cleared. */
FUNCTION user_clear
	mov	%rsi, %rcx
	shr	$3, %rcx
	and	$7, %esi
	xor	%eax, %eax
	USER_ACCESS stac
1:	rep stosq
	mov	%esi, %ecx
2:	rep stosb
	USER_ACCESS clac
	mov	%rcx, %rax
	ret
3:	lea	(%rsi, %rcx, 8), %rcx
4:	USER_ACCESS clac
	mov	%rcx, %rax
	ret
	FIXUP	1b, 3b
	FIXUP	2b, 4b
END user_clear

/*
 * i64 user_copy_string(char *to, u64 from, u64 size): bytes before the NUL, `size` if there was
 * none among so many, or -EFAULT. Changes r8.
 */
FUNCTION user_copy_string
	xor	%eax, %eax
	USER_ACCESS stac
1:	cmp	%rdx, %rax
	jae	3f
2:	movzbl	(%rsi, %rax), %r8d
	mov	%r8b, (%rdi, %rax)
	test	%r8d, %r8d
	jz	3f
	inc	%rax
	jmp	1b
3:	USER_ACCESS clac
	ret
4:	USER_ACCESS clac
	mov	$-EFAULT, %rax
	ret
	FIXUP	2b, 4b
END user_copy_string

/* int user_get_N(void *to, u64 from): 0 or -EFAULT. */
.macro GET bits, register
FUNCTION user_get_\bits
	USER_ACCESS stac
1:	mov	(%rsi), \register
	USER_ACCESS clac
	mov	\register, (%rdi)
	xor	%eax, %eax
	ret
2:	USER_ACCESS clac
	mov	$-EFAULT, %eax
	ret
	FIXUP	1b, 2b
END user_get_\bits
.endm

	GET	8, %al
	GET	32, %eax
	GET	64, %rax

/* int user_put_N(u64 to, uN value): 0 or -EFAULT. */
.macro PUT bits, register
FUNCTION user_put_\bits
	USER_ACCESS stac
1:	mov	\register, (%rdi)
	USER_ACCESS clac
	xor	%eax, %eax
	ret
2:	USER_ACCESS clac
	mov	$-EFAULT, %eax
	ret
	FIXUP	1b, 2b
END user_put_\bits
.endm

	PUT	8, %sil
	PUT	32, %esi
	PUT	64, %rsi

/* int user_cmpxchg_32(u64 at, u32 *expected, u32 value): 0 or -EFAULT; *expected: what it found. */
FUNCTION user_cmpxchg_32
	mov	(%rsi), %eax
	USER_ACCESS stac
1:	lock cmpxchg %edx, (%rdi)
	USER_ACCESS clac
	mov	%eax, (%rsi)
	xor	%eax, %eax
	ret
2:	USER_ACCESS clac
	mov	$-EFAULT, %eax
	ret
	FIXUP	1b, 2b
END user_cmpxchg_32

	.section .note.GNU-stack, "", @progbits
