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
 * Regions: pushf-popf, one pair, which flips the flag ID as a proof; pushf-getppid-popf, a pair
 * around getppid(2), which is called with the flags AC and ID set. A popf counts one instruction,
 * as a nop does: what it costs, only time on a processor shows. The second region shows what the
 * kernel does because of the flags.
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pathmeter.h"
#include "times.h"

enum { PAIRS = 100, CALLS = 10000 };
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

static inline void flip_id(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushf\n\t"
			 "xorl %[id], (%%rsp)\n\t"
			 "popf\n\t"
			 "lea 128(%%rsp), %%rsp" : : [id] "i"(ID) : "memory", "cc");
}

static long flag_id(void)
{
	long flags;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushf\n\t"
			 "pop %0\n\t"
			 "lea 128(%%rsp), %%rsp" : "=r"(flags) : : "memory");
	return flags & ID;
}

int main(void)
{
	int good = 1;
	long parent = getppid();

	for (int i = 0; i < PAIRS; i++) {
		long before = flag_id();

		pathmeter_begin("pushf-popf");
		flip_id();
		pathmeter_end("pushf-popf");
		good &= pathmeter_expect(flag_id() != before);
	}
	TIMES("pushf-popf", CALLS, flip_id());
	for (int i = 0; i < PAIRS; i++) {
		long result, flags;

		pathmeter_begin("pushf-getppid-popf");
		result = call_with_flags(SYS_getppid, AC | ID, &flags);
		pathmeter_end("pushf-getppid-popf");
		good &= pathmeter_expect(result == parent);
		good &= pathmeter_expect((flags & (AC | ID)) == (AC | ID));
	}
	TIMES("pushf-getppid-popf", CALLS,
	      long flags; call_with_flags(SYS_getppid, AC | ID, &flags));
	return !good;
}
