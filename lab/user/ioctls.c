/*
 * ioctl on /dev/labdev by 64-bit programs and, by int 0x80, as 32-bit programs do it: answers,
 * errors, sleeping, the table of registered commands, and what a call costs. ioctl_locks.c has what
 * happens when many call at once.
 */
#include "ioctls.h"

#define RNDRESEEDCRNG 0x5207u

static struct labdev_params params;
static struct labdev_params32 params32;

/* ---- Answers. ---- */

static void params_are_given(void)
{
	long fd = open_device(O_RDWR);
	uint32_t serial;

	memset(&params, 0xee, sizeof(params));
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
	serial = params.serial;
	expect(serial != 0);
	params = (struct labdev_params){ 0x123456789abcdef0, 96000, 6, 1, 0x55 };
	expect_equal(native(fd, LABDEV_SET, &params), 0);
	memset(&params, 0xee, sizeof(params));
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
	expect_equal(params.buffer, 0x123456789abcdef0);
	expect_equal(params.rate, 96000);
	expect_equal(params.channels, 6);
	expect_equal(params.serial, serial + 1);
	expect_equal(params.flags, 0x55);
}

static void a_32_bit_programs_structure_is_smaller(void)
{
	static struct {
		struct labdev_params32 params;
		uint32_t after;
	} got;
	long fd = open_device(O_RDWR);

	params32 = (struct labdev_params32){ 0xfedcba98, 8000, 1, 99, 7 };
	expect_equal(compat(fd, LABDEV_SET32, &params32), 0);
	memset(&got, 0xee, sizeof(got));
	expect_equal(compat(fd, LABDEV_PARAMS32, &got), 0);
	expect_equal(got.params.buffer, 0xfedcba98);
	expect_equal(got.params.rate, 8000);
	expect_equal(got.params.channels, 1);
	expect_equal(got.params.flags, 7);
	expect_equal(got.after, 0xeeeeeeee);
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
	expect_equal(params.buffer, 0xfedcba98); /* zero-extended */
	expect_equal(params.serial, got.params.serial + 1);
}

static void both_kinds_get_the_same_state(void)
{
	static struct {
		struct labdev_state state;
		uint32_t after;
	} got;
	long fd = open_device(O_RDWR);
	uint32_t serial;

	memset(&got, 0xee, sizeof(got));
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
	expect_equal(native(fd, LABDEV_STATE, &got), 0);
	serial = got.state.serial;
	expect_equal(serial, params.serial + 1);
	expect_equal(got.state.rate, params.rate);
	expect_equal(got.after, 0xeeeeeeee);
	expect_equal(compat(fd, LABDEV_STATE, &got), 0);
	expect_equal(got.state.serial, serial + 1);
	expect_equal(got.after, 0xeeeeeeee);
	expect_equal(compat(fd, LABDEV_STATE, NULL), -EFAULT);
	expect_equal(native(open_device(O_WRONLY), LABDEV_STATE, &got), -EBADF);
}

static void any_name_with_its_numbers_is_the_device(void)
{
	long fd;

	expect_equal(sys(SYS_mknod, "/labdev-too", 0020666, LABDEV_MAJOR << 8), 0);
	fd = sys(SYS_open, "/labdev-too", O_RDONLY);
	expect(fd >= 0);
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
	expect_equal(sys(SYS_mknod, "/labdev-no", 0020666, LABDEV_MAJOR << 8 | 2), 0);
	expect_equal(sys(SYS_open, "/labdev-no", O_RDONLY), -ENXIO);
	expect_equal(sys(SYS_unlink, "/labdev-too"), 0);
	expect_equal(sys(SYS_unlink, "/labdev-no"), 0);
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0); /* open, though nameless */
}

/* ---- Errors: the same for both kinds of programs, under every variant. ---- */

/* Direction, size, type and number all count. `own`: PARAMS as this way has it. */
static void wrong_numbers(ioctl_way way, uint32_t own, uint32_t other_way)
{
	const uint32_t wrong[] = {
		0, 1, ~0u, own ^ 1u << 31, own ^ 1u << 30, own + (1u << 16), own - (1u << 16),
		own ^ 1u << 8, own + 4, own - 1, own + 255, other_way, LABDEV_COLLISION(0),
		LABDEV_IOC(LABDEV_READ, 1u, 0x3fffu), LABDEV_WAIT + (4u << 16), RNDRESEEDCRNG,
	};
	const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };

	for (unsigned mode = 0; mode < 3; mode++) {
		long fd = open_device(modes[mode]);

		for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
			expect_equal(way(fd, wrong[i], &params), -ENOTTY);
		sys(SYS_close, fd);
	}
}

static void wrong_files(ioctl_way way, uint32_t own)
{
	long null = sys(SYS_open, "/dev/null", O_RDWR);
	long file = sys(SYS_open, "/proc/cmdline", O_RDONLY);
	int pipe[2];

	expect_equal(sys(SYS_pipe, pipe), 0);
	expect_equal(way(null, own, &params), -ENOTTY);
	expect_equal(way(file, own, &params), -ENOTTY);
	expect_equal(way(pipe[0], own, &params), -ENOTTY);
	expect_equal(way(0, own, &params), -ENOTTY); /* the console */
	expect_equal(way(99, own, &params), -EBADF);
	expect_equal(way(-1, own, &params), -EBADF);
	expect_equal(way(1 << 20, own, &params), -EBADF);
	sys(SYS_close, null);
	expect_equal(way(null, own, &params), -EBADF);
}

static void wrong_modes(ioctl_way way, uint32_t get, uint32_t set)
{
	long reader = open_device(O_RDONLY), writer = open_device(O_WRONLY);

	expect_equal(way(reader, get, &params), 0);
	expect_equal(way(reader, set, &params), 0);
	expect_equal(way(reader, LABDEV_WAKE, NULL), -EBADF);
	expect_equal(way(reader, LABDEV_WAIT, NULL), -EBADF);
	expect_equal(way(reader, LABDEV_POLL, (void *)1), -EBADF);
	expect_equal(way(writer, get, &params), -EBADF);
	expect_equal(way(writer, set, &params), -EBADF);
	expect_equal(way(writer, LABDEV_WAKE, NULL), 0);
	expect_equal(way(writer, LABDEV_POLL, NULL), 0);
	expect_equal(way(writer, LABDEV_POLL, (void *)LABDEV_MOST_LOOKS), 0);
	expect_equal(way(writer, LABDEV_POLL, (void *)(LABDEV_MOST_LOOKS + 1ul)), -EINVAL);
}

static void wrong_pointers(ioctl_way way, uint32_t get, uint32_t set, size_t size)
{
	/* Two pages below 4 GiB; the second is taken away. */
	char *page = (char *)sys(SYS_mmap, 0, 8192, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long fd = open_device(O_RDWR);

	expect((unsigned long)page < 1ul << 32);
	expect_equal(sys(SYS_munmap, page + 4096, 4096), 0);
	expect_equal(way(fd, get, NULL), -EFAULT);
	expect_equal(way(fd, set, NULL), -EFAULT);
	expect_equal(way(fd, get, (void *)0xfffffff8), -EFAULT);
	expect_equal(way(fd, set, (void *)0xfffffff8), -EFAULT);
	expect_equal(way(fd, get, page + 4096 - size), 0);
	expect_equal(way(fd, set, page + 4096 - size), 0);
	for (size_t inside = 0; inside < size; inside++) {
		expect_equal(way(fd, get, page + 4096 - inside), -EFAULT);
		expect_equal(way(fd, set, page + 4096 - inside), -EFAULT);
	}
	expect_equal(sys(SYS_mprotect, page, 4096, PROT_READ), 0);
	expect_equal(way(fd, get, page), -EFAULT);
	expect_equal(way(fd, set, page), 0);
	expect_equal(way(fd, get, &params), 0); /* the semaphore was let go of each time */
}

static void the_native_calls_errors(void)
{
	long fd = open_device(O_RDWR);

	wrong_numbers(native, LABDEV_PARAMS, LABDEV_PARAMS32);
	wrong_files(native, LABDEV_PARAMS);
	wrong_modes(native, LABDEV_PARAMS, LABDEV_SET);
	wrong_pointers(native, LABDEV_PARAMS, LABDEV_SET, sizeof(params));
	expect_equal(native(fd, LABDEV_PARAMS, (void *)0xffffffff80100000), -EFAULT);
	expect_equal(native(fd, LABDEV_SET, (void *)0xffff888000000000), -EFAULT);
	expect_equal(native(fd, LABDEV_PARAMS, (void *)0x8000000000000000), -EFAULT);
	expect_equal(native(fd, LABDEV_SET, (void *)-1l), -EFAULT);
	/* Of the number the lower half counts, as on Linux. */
	expect_equal(sys(SYS_ioctl, fd, 1ul << 32 | LABDEV_PARAMS, &params), 0);
}

static void the_32_bit_calls_errors(void)
{
	wrong_numbers(compat, LABDEV_PARAMS32, LABDEV_PARAMS);
	wrong_files(compat, LABDEV_PARAMS32);
	wrong_modes(compat, LABDEV_PARAMS32, LABDEV_SET32);
	wrong_pointers(compat, LABDEV_PARAMS32, LABDEV_SET32, sizeof(params32));
}

static void other_drivers_are_served(void)
{
	long fd = sys(SYS_open, "/dev/urandom", O_RDWR);

	expect_equal(native(fd, RNDRESEEDCRNG, NULL), 0);
	expect_equal(compat(fd, RNDRESEEDCRNG, NULL), 0);
	expect_equal(native(fd, LABDEV_PARAMS, &params), -EINVAL); /* random(4)'s own answer */
	expect_equal(compat(fd, LABDEV_PARAMS32, &params32), -EINVAL);
}

/* The second driver with the number is out of luck where numbers are looked up. */
static void two_drivers_have_one_number(void)
{
	long twin = sys(SYS_open, "/dev/labtwin", O_RDWR), fd = open_device(O_RDWR);

	expect_equal(native(twin, LABDEV_PARAMS, &params), 0);
	expect_equal(params.rate, LABTWIN_RATE);
	expect_equal(compat(twin, LABDEV_PARAMS32, &params32), table_is_used() ? -ENOTTY : 0);
	if (!table_is_used())
		expect_equal(params32.rate, LABTWIN_RATE);
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
	expect(params.rate != LABTWIN_RATE);
	expect_equal(compat(fd, LABDEV_PARAMS32, &params32), 0);
	expect_equal(params32.rate, params.rate);
}

/* ---- Sleeping. ---- */

static void wait_in_child(void *way)
{
	long fd = open_device(O_RDWR);

	expect_equal(((ioctl_way)way)(fd, LABDEV_WAIT, NULL), 0);
}

/* Three sleep at once; meanwhile the device serves others, big kernel lock or not. */
static void sleepers_are_woken(void)
{
	long fd = open_device(O_RDWR), children[3];
	uint64_t pause[2] = { 0, 1000000 };
	int left = 3;

	for (unsigned i = 0; i < 3; i++) {
		children[i] = sys(SYS_fork);
		if (children[i] == 0) {
			pin(i % cpus());
			wait_in_child(i == 1 ? (void *)compat : (void *)native);
			quit(0);
		}
	}
	while (left > 0) {
		int status = 0;

		sys(SYS_nanosleep, pause, NULL);
		expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
		expect_equal(compat(fd, LABDEV_PARAMS32, &params32), 0);
		expect_equal((left & 1 ? native : compat)(fd, LABDEV_WAKE, NULL), 0);
		if (sys(SYS_wait4, -1, &status, 1 /* WNOHANG */, 0) > 0) {
			expect(exited(status, 0));
			left--;
		}
	}
}

static void note(int signal, void *info, struct context *context)
{
	(void)signal, (void)info, (void)context;
}

long wait_under_alarms(ioctl_way way, long fd)
{
	const uint64_t each_ms[4] = { 0, 1000, 0, 1000 }, never[4] = { 0 };
	long result;

	expect_equal(on_signal(SIGALRM, note), 0);
	expect_equal(sys(SYS_setitimer, 0, each_ms, NULL), 0);
	result = way(fd, LABDEV_WAIT, NULL);
	expect_equal(sys(SYS_setitimer, 0, never, NULL), 0);
	return result;
}

static void a_signal_ends_the_sleep(void)
{
	long fd = open_device(O_RDWR), pid;
	uint64_t pause[2] = { 0, 2000000 };

	expect_equal(wait_under_alarms(native, fd), -EINTR);
	expect_equal(wait_under_alarms(compat, fd), -EINTR);
	pid = sys(SYS_fork);
	if (pid == 0) {
		native(fd, LABDEV_WAIT, NULL);
		quit(1);
	}
	sys(SYS_nanosleep, pause, NULL);
	expect_equal(sys(SYS_kill, pid, SIGKILL), 0);
	expect(killed(wait_for(pid), SIGKILL));
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0); /* all holders let go */
}

/* ---- The table of registered commands. ---- */

/* Commands come and go; PARAMS is always found, and one that is not there never. */
static void registering_goes_on_under_load(void)
{
	long fd = open_device(O_RDWR), pid;
	unsigned changes = 0, last = 0;

	if (!variant_is("test.ioctl-churn") || !table_is_used())
		return;
	pid = sys(SYS_fork);
	if (pid == 0) {
		pin(1 % cpus());
		for (;;) {
			expect_equal(compat(fd, LABDEV_PARAMS32, &params32), 0);
			expect_equal(compat(fd, LABDEV_COLLISION(5000), &params32), -ENOTTY);
		}
	}
	while (changes < 200) {
		for (unsigned n = 0; n < LABDEV_CHURNS; n++) {
			long answer = compat(fd, LABDEV_CHURN(n), NULL);

			expect(answer == LABDEV_CHURN_ANSWER || answer == -ENOTTY);
			changes += n == 0 && (answer > 0) != last;
			last = n ? last : answer > 0;
		}
		expect_equal(compat(fd, LABDEV_PARAMS32, &params32), 0);
		expect_equal(compat(fd, LABDEV_COLLISION(5000), &params32), -ENOTTY);
	}
	expect_equal(sys(SYS_wait4, pid, NULL, 1, 0), 0);
	sys(SYS_kill, pid, SIGKILL);
	wait_for(pid);
}

/* A driver's commands are found while it is loaded, and at no other time. */
static void loaded_commands_are_found(void)
{
	long fd = open_device(O_RDWR), loaded = table_is_used() ? 0 : -ENODEV;
	int loaded_by_itself = variant_is("test.ioctl-churn"); /* at any time */

	if (loaded_by_itself)
		loaded = -ENODEV;
	expect_equal(sys(SYS_LAB, LAB_COMMANDS, 3), -EINVAL);
	expect_equal(sys(SYS_LAB, LAB_COMMANDS, 2), loaded);
	for (unsigned time = 0; time < 20; time++)
		for (int on = 0; on < 2; on++) {
			expect_equal(sys(SYS_LAB, LAB_COMMANDS, on), loaded);
			expect_equal(sys(SYS_LAB, LAB_COMMANDS, on), loaded);
			for (unsigned n = 0; n < LABDEV_CHURNS && !loaded_by_itself; n++)
				expect_equal(compat(fd, LABDEV_CHURN(n), NULL),
					     on && !loaded ? LABDEV_CHURN_ANSWER : -ENOTTY);
			expect_equal(compat(fd, LABDEV_STATE, &params), 0);
		}
	sys(SYS_LAB, LAB_COMMANDS, 0);
}

/* How many of the driver's calls are still at work as it has been unloaded: one that began on the
 * other CPU before, with this argument. */
static long left_by_unloading(unsigned long argument)
{
	uint64_t pause[2] = { 0, 100000 };
	long fd = open_device(O_RDWR), pid, left;

	expect_equal(sys(SYS_LAB, LAB_COMMANDS, 1), 0);
	pid = sys(SYS_fork);
	if (pid == 0) {
		pin(1);
		/* Not found any more, in the end. */
		while (compat(fd, LABDEV_CHURN(0), (void *)argument) == LABDEV_CHURN_ANSWER)
			;
		quit(0);
	}
	pin(0);
	while (sys(SYS_LAB, LAB_COMMANDS, 2) == 0)
		sys(SYS_nanosleep, pause, NULL);
	left = sys(SYS_LAB, LAB_COMMANDS, 0);
	expect(exited(wait_for(pid), 0));
	expect_equal(sys(SYS_LAB, LAB_COMMANDS, 2), 0);
	return left;
}

/* The lock or the grace period waits for a call that stays on its CPU, nothing for one that
 * sleeps; without both, nothing for any. */
static void unloading_waits_for_what_runs(void)
{
	if (!table_is_used() || cpus() < 2 || variant_is("test.ioctl-churn"))
		return;
	for (unsigned time = 0; time < 10; time++)
		if (!variant_is("hash-bare"))
			expect_equal(left_by_unloading(LABDEV_MOST_LOOKS), 0);
	expect_equal(left_by_unloading(LABDEV_MOST_LOOKS + 1), 1);
}

/* ---- What a call costs, in instructions of QEMU's exact clock. ---- */

#define BARE_NATIVE_MOST 140
#define COMPAT_MORE_MOST 25

static uint64_t cost(ioctl_way way, long fd, uint32_t command, long result)
{
	uint64_t least = ~0ul;

	for (int i = 0; i < 50; i++) {
		uint64_t begin = stamp(), end;

		expect_equal(way(fd, command, &params), result);
		end = stamp();
		least = end - begin < least ? end - begin : least;
	}
	return least;
}

/* PARAMS with nothing but the call between two rdtsc. */
#define BARE_CALL(entry, number, command, to)                                                      \
	__asm__ volatile("rdtsc; mov %%eax, %[begin]; mov %[number_], %%eax; mov %[to_], %%edx;"   \
			 entry "; mov %%eax, %[result]; rdtsc"                                     \
			 : "=&a"(end), [begin] "=&r"(begin), "=c"(lost), [result] "=&r"(result)    \
			 : "D"(fd), "S"(command), "b"(fd), "2"(command), [number_] "i"(number),    \
			   [to_] "i"(to)                                                           \
			 : "rdx", "r8", "r9", "r10", "r11", "memory")

static uint64_t bare_cost(long fd, int is_compat)
{
	uint64_t least = ~0ul;

	for (int i = 0; i < 50; i++) {
		uint32_t begin, end, lost, result;

		if (is_compat)
			BARE_CALL("int $0x80", SYS_IOCTL_32, LABDEV_PARAMS32, &params32);
		else
			BARE_CALL("syscall", SYS_ioctl, LABDEV_PARAMS, &params);
		(void)lost;
		expect_equal(result, 0);
		least = end - begin < least ? end - begin : least;
	}
	return least;
}

/* By the fast entry, in a program that is all 32 bits. */
static void run_cost(void *native_cost)
{
	char number[] = { '0' + (long)native_cost / 100, '0' + (long)native_cost / 10 % 10,
			  '0' + (long)native_cost % 10, 0 };
	char *const argv[] = { "/compat", "cost", number, NULL };
	char *const none[] = { NULL };

	sys(SYS_execve, "/compat", argv, none);
	quit(1);
}

static void a_call_is_cheap(void)
{
	long fd = open_device(O_RDWR);
	uint64_t native_cost = bare_cost(fd, 0), compat_cost = bare_cost(fd, 1);

	if (!option("test.exact", 0))
		return;
	print("ioctl: native %lu instructions, by int 0x80 %lu\n", native_cost, compat_cost);
	if (native_is_locked() || table_is_used()) {
		expect(exited(in_child(run_cost, NULL), 0));
		return;
	}
	expect(native_cost <= BARE_NATIVE_MOST);
	expect(compat_cost <= native_cost + COMPAT_MORE_MOST);
	expect(exited(in_child(run_cost, (void *)native_cost), 0));
}

/* Both numbers are in one bucket and end the same way; only what stands before them differs. */
static void a_collision_costs_an_instruction_or_more(void)
{
	long fd = open_device(O_RDWR);
	unsigned collisions = (unsigned)option("compat-ioctl-collisions", 0);
	uint64_t first, last;

	if (!option("test.exact", 0) || !table_is_used() || collisions < 2 ||
	    variant_is("test.ioctl-churn"))
		return;
	last = cost(compat, fd, LABDEV_COLLISION(0), -ENOTTY);
	first = cost(compat, fd, LABDEV_COLLISION(collisions - 1), -ENOTTY);
	print("ioctl: %u collisions cost %lu instructions\n", collisions - 1, last - first);
	expect(last >= first + collisions - 1);
}

const struct test ioctl_tests[] = {
	{ "ioctl.params", params_are_given },
	{ "ioctl.32-bit-params", a_32_bit_programs_structure_is_smaller },
	{ "ioctl.state", both_kinds_get_the_same_state },
	{ "ioctl.mknod", any_name_with_its_numbers_is_the_device },
	{ "ioctl.errors", the_native_calls_errors },
	{ "ioctl.32-bit-errors", the_32_bit_calls_errors },
	{ "ioctl.other-drivers", other_drivers_are_served },
	{ "ioctl.twin", two_drivers_have_one_number },
	{ "ioctl.sleepers", sleepers_are_woken },
	{ "ioctl.signal", a_signal_ends_the_sleep },
	{ "ioctl.churn", registering_goes_on_under_load },
	{ "ioctl.loaded", loaded_commands_are_found },
	{ "ioctl.unloading", unloading_waits_for_what_runs },
	{ "ioctl.cost", a_call_is_cheap },
	{ "ioctl.collisions", a_collision_costs_an_instruction_or_more },
	{ 0 },
};
