/*
 * A 32-bit program's view: int 0x80, the fast entry of AT_SYSINFO, flags over it, wild pointers,
 * ioctls by both entries, and structures that are half as wide.
 *
 * Run by the tests; exit code 0 is success.
 */
#include "../uapi/labdev.h"
#include "lib.h"

#define NT 0x4000ul
#define AC 0x40000ul

unsigned long entry; /* named in assembly */

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

#define RUSAGE_FIELDS 18
#define RUSAGE_MINOR_FAULTS 8
#define UNTOUCHED 0xeeeeeeee

/* As wide as a 32-bit program has it: what follows is not written. */
static void expect_usage(const uint32_t usage[RUSAGE_FIELDS + 1])
{
	expect(usage[RUSAGE_MINOR_FAULTS] > 0 && usage[RUSAGE_MINOR_FAULTS] < 1000000);
	expect_equal(usage[RUSAGE_FIELDS - 1] == UNTOUCHED, 0);
	expect_equal(usage[RUSAGE_FIELDS], UNTOUCHED);
}

static void usage_is_narrow(void)
{
	uint32_t usage[RUSAGE_FIELDS + 1];
	int status = -1;
	long pid;

	memset(usage, UNTOUCHED & 0xff, sizeof(usage));
	expect_equal(sys(SYS_getrusage, 0, usage), 0);
	expect_usage(usage);
	expect_equal(sys(SYS_getrusage, 7, usage), -EINVAL);
	expect_equal(sys(SYS_getrusage, 0, 0x10), -EFAULT);
	pid = sys(SYS_fork);
	if (pid == 0)
		sys(SYS_exit_group, 3);
	memset(usage, UNTOUCHED & 0xff, sizeof(usage));
	expect_equal(sys(SYS_wait4, pid, &status, 0, usage), pid);
	expect(exited(status, 3));
	expect_usage(usage);
}

static void signal_stack_is_narrow(void)
{
	static char memory[8192];
	struct { uint32_t address, flags, size, after; } stack, none;

	memset(&none, UNTOUCHED & 0xff, sizeof(none));
	expect_equal(sys(SYS_sigaltstack, 0, &none), 0);
	expect_equal(none.flags, 2 /* SS_DISABLE */);
	expect_equal(none.size, 0);
	expect_equal(none.after, UNTOUCHED);
	stack = none;
	stack.address = (uint32_t)memory;
	stack.size = sizeof(memory);
	stack.flags = 0;
	expect_equal(sys(SYS_sigaltstack, &stack, 0), 0);
	memset(&stack, 0, sizeof(stack));
	expect_equal(sys(SYS_sigaltstack, &none, &stack), 0);
	expect_equal(stack.address, memory);
	expect_equal(stack.size, sizeof(memory));
	expect_equal(stack.flags, 0);
	expect_equal(stack.after, 0);
	expect_equal(sys(SYS_sigaltstack, 0x10, 0), -EFAULT);
	expect_equal(sys(SYS_sigaltstack, 0, 0x10), -EFAULT);
}

static void time_is_narrow(void)
{
	const uint32_t short_time[2] = { 0, 1000 }, wrong[2] = { 0, 1000000000 };

	expect_equal(sys(SYS_nanosleep, short_time, 0), 0);
	expect_equal(sys(SYS_nanosleep, wrong, 0), -EINVAL);
	expect_equal(sys(SYS_nanosleep, 0x10, 0), -EFAULT);
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

/* The same answers by either entry; user/ioctls.c has the errors in full. */
static void ioctls_work(long (*call)(long number, long a, long b, long c))
{
	struct labdev_params32 params = { .rate = 22050, .channels = 4 };
	long fd = sys(SYS_open, "/dev/labdev", O_RDWR);
	uint32_t serial;

	expect(fd >= 0);
	expect_equal(call(SYS_ioctl, fd, LABDEV_SET32, (long)&params), 0);
	memset(&params, 0xee, sizeof(params));
	expect_equal(call(SYS_ioctl, fd, LABDEV_PARAMS32, (long)&params), 0);
	expect_equal(params.rate, 22050);
	expect_equal(params.channels, 4);
	serial = params.serial;
	expect_equal(call(SYS_ioctl, fd, LABDEV_PARAMS32, (long)&params), 0);
	expect_equal(params.serial, serial + 1);
	expect_equal(call(SYS_ioctl, fd, LABDEV_PARAMS, (long)&params), -ENOTTY);
	expect_equal(call(SYS_ioctl, fd, LABDEV_PARAMS32, 0x10), -EFAULT);
	expect_equal(call(SYS_ioctl, fd, LABDEV_PARAMS32, 0xc0000000), -EFAULT);
	expect_equal(call(SYS_ioctl, -1, LABDEV_PARAMS32, (long)&params), -EBADF);
	expect_equal(call(SYS_ioctl, fd, LABDEV_WAKE, 0), 0);
	sys(SYS_close, fd);
}

static long by_int80(long number, long a, long b, long c)
{
	return sys(number, a, b, c);
}

/* PARAMS32 by the fast entry, with nothing but the call between two rdtsc: instructions, under
 * QEMU's exact clock. */
static uint32_t fast_ioctl_cost(void)
{
	static struct labdev_params32 params;
	long fd = sys(SYS_open, "/dev/labdev", O_RDONLY);
	uint32_t least = ~0u;

	for (int i = 0; i < 50; i++) {
		uint32_t begin, result = SYS_ioctl, end;

		__asm__ volatile("mov %[number], %%edi; rdtsc; mov %%eax, %%esi; mov %%edi, %%eax;"
				 "mov %[to], %%edx; call *entry; mov %%eax, %%edi; rdtsc"
				 : "=&a"(end), "=&S"(begin), "=&D"(result)
				 : "b"(fd), "c"(LABDEV_PARAMS32), [number] "i"(SYS_ioctl),
				   [to] "i"(&params)
				 : "edx", "memory");
		expect_equal(result, 0);
		least = end - begin < least ? end - begin : least;
	}
	sys(SYS_close, fd);
	return least;
}

/* sysenter hands over no return address, and sysexit restores no flags: that is work. */
#define MORE_MOST 25
#define MORE_MOST_SYSENTER 37

static int entry_is_sysenter(void)
{
	const uint8_t *code = (const uint8_t *)entry;

	for (int i = 0; i < 16; i++)
		if (code[i] == 0x0f && code[i + 1] == 0x34)
			return 1;
	return 0;
}

/* compat cost NATIVE: the fast entry may cost so much more; 0: only prints it. */
static int cost_main(uint32_t native)
{
	uint32_t cost = fast_ioctl_cost();

	print("ioctl: by the fast entry %u\n", cost);
	return native && cost > native + (entry_is_sysenter() ? MORE_MOST_SYSENTER : MORE_MOST);
}

/* compat [leaky], or compat cost NATIVE */
int main(int argc, char **argv, char **envp)
{
	int leaky = argc > 1 && !strcmp(argv[1], "leaky");

	(void)envp;
	for (unsigned long *pair = auxv; pair[0]; pair += 2)
		if (pair[0] == 32)
			entry = pair[1];
	expect(entry != 0);
	if (argc > 2 && !strcmp(argv[1], "cost"))
		return cost_main((uint32_t)parse_number(argv[2]));
	both_entries_agree();
	ioctls_work(by_int80);
	ioctls_work(fast);
	usage_is_narrow();
	signal_stack_is_narrow();
	time_is_narrow();
	expect_equal(pin(0), 0);
	expect_equal(real_time(2), 0);
	flags_stay_with_their_program(NT, leaky);
	flags_stay_with_their_program(AC, leaky);
	return 0;
}
