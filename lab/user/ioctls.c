/*
 * ioctl on /dev/labdev by 64-bit programs and, by int 0x80, as 32-bit programs do it: answers,
 * errors, sleeping, and what the big kernel lock counts. Static buffers lie below 4 GiB, as int 0x80
 * needs them.
 */
#include "../uapi/lab.h"
#include "../uapi/labdev.h"
#include "tests.h"

#define SYS_IOCTL_32 54
#define RNDRESEEDCRNG 0x5207u

static struct labdev_params params;
static struct labdev_params32 params32;

static long int80(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(number), "b"(a), "c"(b), "d"(c)
			 : "r8", "r9", "r10", "r11", "memory");
	return result;
}

static long native(long fd, uint32_t command, const volatile void *argument)
{
	return sys(SYS_ioctl, fd, command, argument);
}

static long compat(long fd, uint32_t command, const volatile void *argument)
{
	return int80(SYS_IOCTL_32, fd, command, (long)argument);
}

typedef long (*ioctl_way)(long fd, uint32_t command, const volatile void *argument);

static int policy_is(const char *word)
{
	return strstr(command_line(), word) != NULL;
}

static int native_is_locked(void)
{
	return policy_is(" ioctl=bkl") || !memcmp(command_line(), "ioctl=bkl", 9);
}

static int table_is_used(void)
{
	return policy_is("compat-ioctl=hash-");
}

static long open_named(const char *name, int flags)
{
	long fd = sys(SYS_open, name, flags, 0);

	expect(fd >= 0);
	return fd;
}

static long open_device(int flags)
{
	return open_named("/dev/labdev", flags);
}

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
		uint32_t behind;
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
	expect_equal(got.behind, 0xeeeeeeee);
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
	expect_equal(params.buffer, 0xfedcba98); /* zero-extended */
	expect_equal(params.serial, got.params.serial + 1);
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

/* ---- Errors: the same for both kinds of programs, under every policy. ---- */

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
	long null = sys(SYS_open, "/dev/null", O_RDWR), file = sys(SYS_open, "/proc/cmdline", O_RDONLY);
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

/* How often this task has slept. */
static uint64_t sleeps(void)
{
	uint64_t usage[18];

	expect_equal(sys(SYS_getrusage, 1 /* RUSAGE_THREAD */, usage), 0);
	return usage[16];
}

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

/* LABDEV_WAIT's result, with a signal each millisecond: the first may come before it sleeps. */
static long wait_under_alarms(ioctl_way way, long fd)
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
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0); /* whoever held what let go of it */
}

/* ---- Many at once. ---- */

#define CALLERS 4
#define CALLS 2000

/* Runs `calls` of PARAMS on CPU `n % cpus()` in each of `callers` children, half of them the 32-bit
 * way if `both`. */
static void call_at_once(ioctl_way way, uint32_t command, int both)
{
	long children[CALLERS];

	for (unsigned n = 0; n < CALLERS; n++) {
		children[n] = sys(SYS_fork);
		if (children[n] == 0) {
			long fd = open_device(O_RDWR);

			pin(n % cpus());
			for (unsigned i = 0; i < CALLS; i++)
				if (both && n & 1)
					expect_equal(compat(fd, LABDEV_PARAMS32, &params32), 0);
				else
					expect_equal(way(fd, command, &params), 0);
			quit(0);
		}
	}
	for (unsigned n = 0; n < CALLERS; n++)
		expect(exited(wait_for(children[n]), 0));
}

/* No serial is lost: the semaphore keeps all apart. */
static void the_semaphore_excludes(void)
{
	long fd = open_device(O_RDWR);
	uint32_t serial;

	expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
	serial = params.serial;
	call_at_once(native, LABDEV_PARAMS, 1);
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
	expect_equal(params.serial, serial + CALLERS * CALLS + 1);
}

/* One sets, another gets, into two pages that are not there yet: between the structure's halves
 * lies a page fault, and the setter has to wait. */
static void nothing_is_torn(void)
{
	long fd = open_device(O_RDWR), pid;

	params = (struct labdev_params){ 0 };
	expect_equal(native(fd, LABDEV_SET, &params), 0);
	pid = sys(SYS_fork);
	if (pid == 0) {
		pin(1 % cpus());
		for (uint32_t i = 1;; i++) {
			params = (struct labdev_params){ i, i, i, 0, i };
			expect_equal(native(fd, LABDEV_SET, &params), 0);
		}
	}
	pin(0);
	for (unsigned i = 0; i < 1000; i++) {
		char *pages = map_pages(8192, MAP_PRIVATE);
		struct labdev_params *got = (struct labdev_params *)(pages + 4096 - 16);

		expect_equal(native(fd, LABDEV_PARAMS, got), 0);
		expect_equal(got->rate, got->buffer);
		expect_equal(got->channels, got->buffer);
		expect_equal(got->flags, got->buffer);
		sys(SYS_munmap, pages, 8192);
	}
	sys(SYS_kill, pid, SIGKILL);
	wait_for(pid);
}

/* How often the lock was taken since the last time, by CPU too. */
static uint64_t take_counts(struct lab_bkl *counts)
{
	uint64_t acquired = 0;

	expect_equal(sys(SYS_LAB, LAB_BKL, counts), 0);
	for (unsigned cpu = 0; cpu < LAB_CPUS; cpu++) {
		acquired += counts->cpu[cpu].acquired;
		expect(counts->cpu[cpu].contended <= counts->cpu[cpu].acquired);
		expect(counts->cpu[cpu].spins >= counts->cpu[cpu].contended);
		expect(counts->cpu[cpu].waited >= counts->cpu[cpu].spins); /* a tick a look, at least */
		expect(counts->cpu[cpu].contended || !counts->cpu[cpu].waited);
		expect(cpu < cpus() || !counts->cpu[cpu].acquired);
	}
	return acquired;
}

/* Each call that the policy puts under the big kernel lock takes it once, on the caller's CPU. */
static void expect_counts(ioctl_way way, uint32_t command, int locked)
{
	struct lab_bkl counts;

	take_counts(&counts);
	call_at_once(way, command, 0);
	expect_equal(take_counts(&counts), locked ? CALLERS * CALLS : 0);
	for (unsigned cpu = 0; locked && cpu < cpus(); cpu++)
		expect_equal(counts.cpu[cpu].acquired,
			     (CALLERS / cpus() + (cpu < CALLERS % cpus())) * CALLS);
}

static void the_big_kernel_lock_counts(void)
{
	int bkl = native_is_locked();

	if (policy_is("test.ioctl-churn"))
		return; /* whose calls are counted too */
	expect_equal(sys(SYS_LAB, LAB_BKL, NULL), -EFAULT);
	expect_counts(native, LABDEV_PARAMS, bkl);
	expect_counts(compat, LABDEV_PARAMS32,
		      policy_is("compat-ioctl=hash-bkl") || (bkl && policy_is("compat-ioctl=flag")));
}

/* Who sleeps drops it, and takes it again. */
static void the_big_kernel_lock_is_dropped_to_sleep(void)
{
	struct lab_bkl counts;
	long fd = open_device(O_RDWR);
	uint64_t slept;

	if (policy_is("test.ioctl-churn"))
		return;
	do { /* until the signal comes as it sleeps */
		take_counts(&counts);
		slept = sleeps();
		expect_equal(wait_under_alarms(native, fd), -EINTR);
		slept = sleeps() - slept;
		expect_equal(take_counts(&counts), native_is_locked() ? 1 + slept : 0);
	} while (!slept);
}

/* ---- Two devices of one driver. ---- */

static uint32_t serial_of(long fd)
{
	expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
	return params.serial;
}

/* What one has set or counted, the other has not; a wake is for the device's own sleepers. */
static void two_devices_are_two(void)
{
	long first = open_device(O_RDWR), second = open_named("/dev/labdev1", O_RDWR), pid;
	uint32_t serials[] = { serial_of(first), serial_of(second) };
	uint64_t pause[2] = { 0, 5000000 };
	int status = -1;

	params32 = (struct labdev_params32){ 0x1000, 11025, 1, 0, 1 };
	expect_equal(compat(first, LABDEV_SET32, &params32), 0);
	params = (struct labdev_params){ 0x2000, 22050, 2, 0, 2 };
	expect_equal(native(second, LABDEV_SET, &params), 0);
	expect_equal(serial_of(first), serials[0] + 1);
	expect_equal(params.rate, 11025);
	expect_equal(compat(second, LABDEV_PARAMS32, &params32), 0);
	expect_equal(params32.rate, 22050);
	expect_equal(params32.serial, serials[1] + 1);
	pid = sys(SYS_fork);
	if (pid == 0)
		quit(native(second, LABDEV_WAIT, NULL) == 0 ? 0 : 1);
	sys(SYS_nanosleep, pause, NULL);
	expect_equal(native(first, LABDEV_WAKE, NULL), 0);
	sys(SYS_nanosleep, pause, NULL);
	expect_equal(sys(SYS_wait4, pid, &status, 1 /* WNOHANG */, 0), 0);
	do { /* more than once, should it come to its sleep late */
		expect_equal(native(second, LABDEV_WAKE, NULL), 0);
		sys(SYS_nanosleep, pause, NULL);
	} while (sys(SYS_wait4, pid, &status, 1 /* WNOHANG */, 0) == 0);
	expect(exited(status, 0));
}

/* CALLS of PARAMS, half the 32-bit way, from when both are here. Each must give the serial behind
 * the last one, and none may sleep, as who waits for the semaphore does. */
static void call_alone(const char *name, volatile uint32_t *here)
{
	long fd = open_named(name, O_RDWR);
	uint32_t serial = serial_of(fd);
	uint64_t slept;

	expect_equal(compat(fd, LABDEV_PARAMS32, &params32), 0); /* its page is here */
	serial++;
	__atomic_fetch_add(here, 1, __ATOMIC_SEQ_CST);
	while (*here < 2)
		sys(SYS_sched_yield);
	slept = sleeps();
	for (unsigned i = 0; i < CALLS; i++) {
		expect_equal(serial_of(fd), ++serial);
		expect_equal(compat(fd, LABDEV_PARAMS32, &params32), 0);
		expect_equal(params32.serial, ++serial);
	}
	expect_equal(sleeps(), slept);
}

/* Two tasks on two CPUs, each on its own device, share the big kernel lock or nothing. */
static void two_devices_share_only_the_policys_lock(void)
{
	volatile uint32_t *here = map_pages(4096, MAP_SHARED);
	struct lab_bkl counts;
	uint64_t acquired;
	long pid;

	take_counts(&counts);
	pid = sys(SYS_fork);
	if (pid == 0) {
		pin(1 % cpus());
		call_alone("/dev/labdev1", here);
		quit(0);
	}
	pin(0);
	call_alone("/dev/labdev", here);
	expect(exited(wait_for(pid), 0));
	acquired = take_counts(&counts);
	if (!policy_is("test.ioctl-churn") && !native_is_locked() && !policy_is("compat-ioctl=hash-bkl"))
		expect_equal(acquired, 0);
}

/* Two tasks on two CPUs take the lock for different devices until one has found it taken three times:
 * for that, take_counts() says, it waited. Under the exact clock a CPU may run for milliseconds before
 * it is the other's turn, so how many calls that takes is not known beforehand. */
static void who_finds_the_big_kernel_lock_taken_waits(void)
{
	const char *const names[] = { "/dev/labdev", "/dev/labdev1" };
	uint64_t pause[2] = { 0, 5000000 }, begin = now_ns(), contended = 0;
	struct lab_bkl counts;
	long children[2];

	if (!native_is_locked() || cpus() < 2)
		return;
	for (unsigned n = 0; n < 2; n++) {
		children[n] = sys(SYS_fork);
		if (children[n] == 0) {
			long fd = open_named(names[n], O_RDONLY);

			pin(n);
			for (;;)
				expect_equal(native(fd, LABDEV_PARAMS, &params), 0);
		}
	}
	while (contended < 3 && now_ns() - begin < 20000000000) {
		sys(SYS_nanosleep, pause, NULL);
		take_counts(&counts);
		contended += counts.cpu[0].contended + counts.cpu[1].contended;
	}
	for (unsigned n = 0; n < 2; n++) {
		sys(SYS_kill, children[n], SIGKILL);
		wait_for(children[n]);
	}
	expect(contended >= 3);
}

/* ---- The table of registered commands. ---- */

/* Commands come and go; PARAMS is always found, and one that is not there never. */
static void registering_goes_on_under_load(void)
{
	long fd = open_device(O_RDWR), pid;
	unsigned changes = 0, last = 0;

	if (!policy_is("test.ioctl-churn") || !table_is_used())
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
		for (unsigned n = 0; n < 8; n++) {
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
	    policy_is("test.ioctl-churn"))
		return;
	last = cost(compat, fd, LABDEV_COLLISION(0), -ENOTTY);
	first = cost(compat, fd, LABDEV_COLLISION(collisions - 1), -ENOTTY);
	print("ioctl: %u collisions cost %lu instructions\n", collisions - 1, last - first);
	expect(last >= first + collisions - 1);
}

const struct test ioctl_tests[] = {
	{ "ioctl.params", params_are_given },
	{ "ioctl.32-bit-params", a_32_bit_programs_structure_is_smaller },
	{ "ioctl.mknod", any_name_with_its_numbers_is_the_device },
	{ "ioctl.errors", the_native_calls_errors },
	{ "ioctl.32-bit-errors", the_32_bit_calls_errors },
	{ "ioctl.other-drivers", other_drivers_are_served },
	{ "ioctl.twin", two_drivers_have_one_number },
	{ "ioctl.sleepers", sleepers_are_woken },
	{ "ioctl.signal", a_signal_ends_the_sleep },
	{ "ioctl.semaphore", the_semaphore_excludes },
	{ "ioctl.not-torn", nothing_is_torn },
	{ "ioctl.bkl-counts", the_big_kernel_lock_counts },
	{ "ioctl.bkl-sleep", the_big_kernel_lock_is_dropped_to_sleep },
	{ "ioctl.two-devices", two_devices_are_two },
	{ "ioctl.own-device", two_devices_share_only_the_policys_lock },
	{ "ioctl.bkl-waits", who_finds_the_big_kernel_lock_taken_waits },
	{ "ioctl.churn", registering_goes_on_under_load },
	{ "ioctl.cost", a_call_is_cheap },
	{ "ioctl.collisions", a_collision_costs_an_instruction_or_more },
	{ 0 },
};
