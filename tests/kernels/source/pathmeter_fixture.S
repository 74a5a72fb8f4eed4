/*
 * What each system call by the syscall instruction executes once, between its entry and its work
 * (common.c.sed). Each option of Kconfig replaces instructions by as many others of the same
 * length: the count stays, nothing moves, and only the cost or the kind changes. The registers
 * used are those that a call may change. Nothing reads the data.
 */
#include <linux/linkage.h>
#include <asm/msr-index.h>
#include <asm/nospec-branch.h>
#include <asm/processor-flags.h>

#define PAGE	4096
#define LINE	64

/* Two pages, in which each of the uses below has lines of its own. */
	.pushsection .bss..page_aligned, "aw", @nobits
	.balign	PAGE
SYM_DATA_START_LOCAL(fixture_data)
	.skip	2 * PAGE
SYM_DATA_END(fixture_data)
	.popsection

#define COUNTER		fixture_data
#define FOUR		fixture_data + 4 * LINE
#define SPLIT		fixture_data + 16 * LINE
#define FIRST_PAGE	fixture_data + 32 * LINE
#define SECOND_PAGE	fixture_data + PAGE

SYM_FUNC_START_LOCAL(fixture_callee)
	RET
SYM_FUNC_END(fixture_callee)

SYM_FUNC_START(pathmeter_fixture)
#ifdef CONFIG_FIXTURE_LFENCE
	lfence
#else
	nopl	(%rax)
#endif

#ifdef CONFIG_FIXTURE_POPF
	pushfq
	popfq
#else
	pushq	%rax
	popq	%rax
#endif

	/* The prefix of the other one does nothing: it makes both as long. */
#ifdef CONFIG_FIXTURE_LOCK
	lock incq COUNTER(%rip)
#else
	ds incq	COUNTER(%rip)
#endif

#ifdef CONFIG_FIXTURE_FOUR_LINES
	incq	FOUR(%rip)
	incq	FOUR + LINE(%rip)
	incq	FOUR + 2 * LINE(%rip)
	incq	FOUR + 3 * LINE(%rip)
#else
	incq	FOUR(%rip)
	incq	FOUR + 8(%rip)
	incq	FOUR + 16(%rip)
	incq	FOUR + 24(%rip)
#endif

	/* 7 by 3: neither the product nor the quotient can be too large. */
	xorl	%edx, %edx
	movl	$7, %eax
	movl	$3, %ecx
#ifdef CONFIG_FIXTURE_DIV
	divq	%rcx
#else
	mulq	%rcx
#endif

	/* Its own value, so that the program's es stays what it is. */
	movl	%es, %eax
#ifdef CONFIG_FIXTURE_SEGMENT_LOAD
	movl	%eax, %es
#else
	movl	%eax, %ecx
#endif

	/* The value that syscall_init() wrote. */
	movl	$MSR_SYSCALL_MASK, %ecx
	movl	$(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF | X86_EFLAGS_SF | \
		X86_EFLAGS_TF | X86_EFLAGS_IF | X86_EFLAGS_DF | X86_EFLAGS_OF | X86_EFLAGS_IOPL | \
		X86_EFLAGS_NT | X86_EFLAGS_RF | X86_EFLAGS_AC | X86_EFLAGS_ID), %eax
	xorl	%edx, %edx
#ifdef CONFIG_FIXTURE_WRMSR
	wrmsr
#else
	xchgw	%ax, %ax
#endif

#ifdef CONFIG_FIXTURE_SPLIT_LINE
	incq	SPLIT + LINE - 4(%rip)
#else
	incq	SPLIT + LINE - 8(%rip)
#endif

	/* Three prefixes that do nothing make the indirect call as long as the direct one. */
	leaq	fixture_callee(%rip), %rax
#ifdef CONFIG_FIXTURE_INDIRECT_CALL
	ANNOTATE_RETPOLINE_SAFE
	.byte	0x2e, 0x2e, 0x2e
	call	*%rax
#else
	call	fixture_callee
#endif

	/* The line that the next system call increments. */
#ifdef CONFIG_FIXTURE_CLFLUSH
	clflush	COUNTER(%rip)
#else
	prefetcht0 COUNTER(%rip)
#endif

	/* Two lines either way. */
	incq	FIRST_PAGE(%rip)
#ifdef CONFIG_FIXTURE_TWO_PAGES
	incq	SECOND_PAGE(%rip)
#else
	incq	FIRST_PAGE + LINE(%rip)
#endif
	RET
SYM_FUNC_END(pathmeter_fixture)
