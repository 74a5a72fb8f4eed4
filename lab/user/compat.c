/*
 * A 32-bit program's view: int 0x80, the fast entry of AT_SYSINFO, flags over it, wild pointers.
 *
 * Run by the tests; exit code 0 is success.
 */
#include "lib.h"

#define NT 0x4000ul
#define AC 0x40000ul

static unsigned long entry;

/* The fast entry; its convention is int 0x80's. */
static long fast(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("call *%1"
			 : "=a"(result)
			 : "m"(entry), "0"(number), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return result;
}

static unsigned long read_flags(void)
{
	unsigned long flags;

	__asm__ volatile("pushf; pop %0" : "=r"(flags)::"memory");
	return flags;
}

static void both_entries_agree(void)
{
	long own = sys(SYS_getpid);

	expect(own > 0);
	for (int i = 0; i < 1000; i++)
		expect_equal(fast(SYS_getpid, 0, 0, 0), own);
	expect_equal(fast(SYS_getppid, 0, 0, 0), sys(SYS_getppid));
	expect_equal(fast(SYS_write, 1, 0x10, 4), -EFAULT);
	expect_equal(sys(SYS_write, 1, 0xfffffff0, 64), -EFAULT);
	expect_equal(fast(100000, 0, 0, 0), -ENOSYS);
	expect_equal(fast(-1, 0, 0, 0), -ENOSYS);
}

/* What another task sets must not come out of this one's fast entry (sysexit restores no flags). */
static void flags_stay_with_their_program(unsigned long flag, int leaky)
{
	unsigned long seen = 0;
	long pid = sys(SYS_fork);

	if (pid == 0)
		for (;;) {
			unsigned long plain = read_flags(), number = SYS_sched_yield;

			__asm__ volatile("push %1; popf; call *%3; push %2; popf"
					 : "+a"(number)
					 : "r"(plain | flag), "r"(plain), "m"(entry)
					 : "memory", "cc");
		}
	for (int i = 0; i < 50; i++) {
		fast(SYS_sched_yield, 0, 0, 0);
		seen |= read_flags() & flag;
		__asm__ volatile("pushl $0x202; popf" ::: "cc");
	}
	sys(SYS_kill, pid, SIGKILL);
	wait_for(pid);
	if (!leaky)
		expect_equal(seen, 0);
	else
		print("32-bit: flag 0x%lx %s\n", flag, seen ? "leaks" : "does not leak");
}

/* compat [leaky] */
int main(int argc, char **argv, char **envp)
{
	int leaky = argc > 1 && !strcmp(argv[1], "leaky");

	(void)envp;
	for (unsigned long *pair = auxv; pair[0]; pair += 2)
		if (pair[0] == 32)
			entry = pair[1];
	expect(entry != 0);
	both_entries_agree();
	expect_equal(pin(0), 0);
	expect_equal(real_time(2), 0);
	flags_stay_with_their_program(NT, leaky);
	flags_stay_with_their_program(AC, leaky);
	return 0;
}
