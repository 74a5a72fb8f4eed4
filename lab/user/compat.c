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
#define ID 0x200000ul
#define PLAIN 0x202ul /* no flag but IF, and the one that is always set */

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

static int entry_is_sysenter(void)
{
	const uint8_t *code = (const uint8_t *)entry;

	for (int i = 0; i < 16; i++)
		if (code[i] == 0x0f && code[i + 1] == 0x34)
			return 1;
	return 0;
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

/* Yields by the fast entry with these flags; those that it comes back with. */
static unsigned long yield_with(unsigned long flags)
{
	unsigned long seen, number = SYS_sched_yield;

	__asm__ volatile("pushf; push %[set]; popf; call *%[entry]; pushf; pop %[seen]; popf"
			 : "+a"(number), [seen] "=&r"(seen)
			 : [set] "r"(flags), [entry] "r"(entry)
			 : "memory", "cc");
	return seen;
}

static void handler(int signal) { (void)signal; }

/* Which of two tasks a signal's handler interrupts, so that it leaves the kernel by iret. */
enum signalled { NEITHER, SETTER, OTHER };

struct yields {
	int setter, other;  /* the tasks' ends, as wait4 tells them: the setter's has code 1 if it
			     * had its flag after each of its yields, else 0 */
	unsigned long seen; /* all flags that the other one saw */
};

#define YIELDS 50

static _Noreturn void set_and_yield(unsigned long flag, int signals)
{
	unsigned long always = ~0ul;

	if (signals)
		sys(SYS_kill, sys(SYS_getppid), SIGUSR1);
	for (int i = 0; i < YIELDS; i++)
		always &= yield_with(PLAIN | flag);
	quit((always & flag) != 0);
}

/* Yields to a task that has `flag` set, and writes what it saw. */
static _Noreturn void yield_to_setter(int output, unsigned long flag, enum signalled signalled)
{
	struct yields yields = { 0 };
	long setter = sys(SYS_fork);

	if (setter == 0)
		set_and_yield(flag, signalled == OTHER);
	for (int i = 0; i < YIELDS; i++) {
		yields.seen |= yield_with(PLAIN);
		if (i == 0 && signalled == SETTER)
			sys(SYS_kill, setter, SIGUSR1);
	}
	yields.setter = wait_for(setter);
	sys(SYS_write, output, &yields, sizeof(yields));
	quit(0);
}

/* What comes of two tasks that yield to each other, one with `flag` set. This one waits by the fast
 * entry: a setter whose flag leaks would have it die of int 0x80's iret. */
static struct yields yields(unsigned long flag, enum signalled signalled)
{
	struct yields yields = { 0 };
	int pipe[2], status;
	long other;

	expect_equal(sys(SYS_pipe, pipe), 0);
	other = sys(SYS_fork);
	if (other == 0)
		yield_to_setter(pipe[1], flag, signalled);
	expect_equal(fast(SYS_wait4, other, (long)&status, 0), other);
	__asm__ volatile("push %0; popf" : : "r"(PLAIN) : "cc");
	if (exited(status, 0))
		expect_equal(sys(SYS_read, pipe[0], &yields, sizeof(yields)), sizeof(yields));
	yields.other = status;
	sys(SYS_close, pipe[0]);
	sys(SYS_close, pipe[1]);
	return yields;
}

/* What the kernel's variants do to flags that entries leave in it. */
static const struct flags_variant {
	const char *name;
	int leaks; /* out of another task's sysexit, which restores none */
	int keeps; /* the setter's own over a switch and sysexit */
	int setter_faults, other_faults; /* at iret, with NT */
} flags_variants[] = {
	{ "flags=save", .keeps = 1, .setter_faults = 1 },
	{ "flags=constant", .leaks = 0 },
	{ "flags=iopl-only", .leaks = 1, .other_faults = 1 },
	{ "flags=entry-clean", .keeps = 1 },
};

static int has_smap(void)
{
	uint32_t a = 7, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return b >> 20 & 1;
}

/* Other exits than sysexit restore the program's flags. `lost`: in the kernel before a switch. */
static void check_flag(const struct flags_variant *variant, unsigned long flag, int lost)
{
	int sysexit = entry_is_sysenter();
	struct yields seen = yields(flag, NEITHER);

	expect(exited(seen.other, 0));
	expect_equal((seen.seen & flag) != 0, sysexit && variant->leaks && !lost);
	expect(exited(seen.setter, !sysexit || (variant->keeps && !lost)));
}

static void check_iret(const struct flags_variant *variant)
{
	struct yields own = yields(NT, SETTER), others = yields(NT, OTHER);

	expect(exited(own.other, 0));
	expect_equal(killed(own.setter, SIGSEGV), variant->setter_faults);
	expect_equal(killed(others.other, SIGSEGV), variant->other_faults);
}

/* With SMAP the fast entry, which reads the sixth argument, ends in a clac. That clears AC, which
 * only entry-clean restores. */
static void flags_stay_with_their_program(const char *name, int smap)
{
	const struct flags_variant *variant = flags_variants;

	while (strcmp(variant->name, name))
		variant++;
	expect(sys(SYS_signal, SIGUSR1, handler) >= 0);
	check_flag(variant, NT, 0);
	check_flag(variant, AC, smap && strcmp(name, "flags=entry-clean"));
	check_flag(variant, ID, 0);
	check_iret(variant);
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

/* compat cost NATIVE: the fast entry may cost so much more; 0: only prints it. */
static int cost_main(uint32_t native)
{
	uint32_t cost = fast_ioctl_cost();

	print("ioctl: by the fast entry %u\n", cost);
	return native && cost > native + (entry_is_sysenter() ? MORE_MOST_SYSENTER : MORE_MOST);
}

/* compat flags=VARIANT smap=on|off, or compat cost NATIVE */
int main(int argc, char **argv, char **envp)
{
	(void)envp;
	for (unsigned long *pair = auxv; pair[0]; pair += 2)
		if (pair[0] == 32)
			entry = pair[1];
	expect(entry != 0);
	expect(argc > 2);
	if (!strcmp(argv[1], "cost"))
		return cost_main((uint32_t)parse_number(argv[2]));
	both_entries_agree();
	ioctls_work(by_int80);
	ioctls_work(fast);
	usage_is_narrow();
	signal_stack_is_narrow();
	time_is_narrow();
	expect_equal(pin(0), 0);
	expect_equal(real_time(2), 0);
	flags_stay_with_their_program(argv[1], has_smap() && !strcmp(argv[2], "smap=on"));
	return 0;
}
