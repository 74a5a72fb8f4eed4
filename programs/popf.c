/*
 * popf: flags saved and restored, without and with a system call in between.
 *
 * From: Chuck Ebbert and others, linux-kernel, 4 November 2006: "[rfc patch] i386: don't save
 * eflags on task switch" (pathmeter experiment eflags-2006). The thread's people timed pushf and
 * popf in loops, and argue about flags that a program sets and the kernel then runs with. This
 * program, written anew, has both.
 *
 *	cc -O2 -static -I../include -o popf popf.c
 *	pathmeter run KERNEL -- ./popf
 *
 * Regions: pushf-popf, one pair; pushf-getppid-popf, a pair around getppid(2), which is called with
 * the flags AC and ID set. A popf counts one instruction, as a nop does: what it costs, only time
 * on a processor shows. The second region shows what the kernel does because of the flags.
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pathmeter.h"

enum { PAIRS = 100 };
enum { AC = 1 << 18, ID = 1 << 21 };

/*
 * Sets flags, calls the kernel, and reads the flags, all in one piece: with AC set, the compiler's
 * code might fault. Below the red zone, which the pushes would overwrite.
 */
static long call_with_flags(long number, long flags, long *after)
{
	long result, kept;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushf\n\t"
			 "pushf\n\t"
			 "or %[flags], (%%rsp)\n\t"
			 "popf\n\t"
			 "syscall\n\t"
			 "pushf\n\t"
			 "pop %[kept]\n\t"
			 "popf\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : "=a"(result), [kept] "=&r"(kept)
			 : "a"(number), [flags] "r"(flags) : "rcx", "r11", "memory", "cc");
	*after = kept;
	return result;
}

static inline void pair(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushf\n\t"
			 "popf\n\t"
			 "lea 128(%%rsp), %%rsp" : : : "memory", "cc");
}

int main(void)
{
	int answered = 0, kept = 0;
	long parent = getppid();

	for (int i = 0; i < PAIRS; i++) {
		pathmeter_begin("pushf-popf");
		pair();
		pathmeter_end("pushf-popf");
	}
	for (int i = 0; i < PAIRS; i++) {
		long result, flags;

		pathmeter_begin("pushf-getppid-popf");
		result = call_with_flags(SYS_getppid, AC | ID, &flags);
		pathmeter_end("pushf-getppid-popf");
		answered += result == parent;
		kept += (flags & (AC | ID)) == (AC | ID);
	}
	return !(pathmeter_expect(answered == PAIRS) & pathmeter_expect(kept == PAIRS));
}
