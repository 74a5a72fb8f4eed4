/*
 * ioctl on /dev/labdev by many at once: the device's semaphore, the big kernel lock and its counts,
 * and two devices that share no more than the variant makes them share.
 */
#include "ioctls.h"

static struct labdev_params params;
static struct labdev_params32 params32;

/* How often this task has slept. */
static uint64_t sleeps(void)
{
	uint64_t usage[18];

	expect_equal(sys(SYS_getrusage, 1 /* RUSAGE_THREAD */, usage), 0);
	return usage[16];
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
		/* A tick a look, at least. */
		expect(counts->cpu[cpu].waited >= counts->cpu[cpu].spins);
		expect(counts->cpu[cpu].contended || !counts->cpu[cpu].waited);
		expect(cpu < cpus() || !counts->cpu[cpu].acquired);
	}
	return acquired;
}

/* Each call takes the big kernel lock as often as the variant has it, on the caller's CPU. */
static void expect_counts(ioctl_way way, uint32_t command, unsigned each)
{
	struct lab_bkl counts;

	take_counts(&counts);
	call_at_once(way, command, 0);
	expect_equal(take_counts(&counts), each * CALLERS * CALLS);
	for (unsigned cpu = 0; cpu < cpus(); cpu++)
		expect_equal(counts.cpu[cpu].acquired,
			     (CALLERS / cpus() + (cpu < CALLERS % cpus())) * CALLS * each);
}

static void the_big_kernel_lock_counts(void)
{
	int bkl = native_is_locked();

	if (variant_is("test.ioctl-churn"))
		return; /* whose calls are counted too */
	expect_equal(sys(SYS_LAB, LAB_BKL, NULL), -EFAULT);
	expect_counts(native, LABDEV_PARAMS, bkl);
	expect_counts(native, LABDEV_STATE, bkl);
	if (variant_is("compat-ioctl=hash-bkl")) {
		/* The handler runs under the lookup's lock; the native call takes its own. */
		expect_counts(compat, LABDEV_PARAMS32, 1);
		expect_counts(compat, LABDEV_STATE, 1 + bkl);
	} else if (variant_is("compat-ioctl=flag")) {
		expect_counts(compat, LABDEV_PARAMS32, bkl);
		expect_counts(compat, LABDEV_STATE, bkl);
	} else {
		expect_counts(compat, LABDEV_PARAMS32, 0);
		expect_counts(compat, LABDEV_STATE, variant_is("compat-ioctl=hash-") && bkl);
	}
}

/* A task that sleeps drops it, and takes it again. */
static void the_big_kernel_lock_is_dropped_to_sleep(void)
{
	struct lab_bkl counts;
	long fd = open_device(O_RDWR);
	uint64_t slept;

	if (variant_is("test.ioctl-churn"))
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

/* CALLS of PARAMS, half the 32-bit way, from when both are here. Each must give the serial after
 * the last one, and none may sleep, as a task that waits for the semaphore does. */
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
static void two_devices_share_only_the_variants_lock(void)
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
	if (!variant_is("test.ioctl-churn") && !native_is_locked() &&
	    !variant_is("compat-ioctl=hash-bkl"))
		expect_equal(acquired, 0);
}

/* Two tasks on two CPUs take the lock for different devices until one has found it taken three
 * times: for that it waited, as take_counts() checks. Under the exact clock a CPU may run for
 * milliseconds before it is the other's turn, so how many calls that takes is not
 * known beforehand. */
static void a_task_that_finds_the_big_kernel_lock_taken_waits(void)
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

const struct test ioctl_lock_tests[] = {
	{ "ioctl.semaphore", the_semaphore_excludes },
	{ "ioctl.not-torn", nothing_is_torn },
	{ "ioctl.bkl-counts", the_big_kernel_lock_counts },
	{ "ioctl.bkl-sleep", the_big_kernel_lock_is_dropped_to_sleep },
	{ "ioctl.two-devices", two_devices_are_two },
	{ "ioctl.own-device", two_devices_share_only_the_variants_lock },
	{ "ioctl.bkl-waits", a_task_that_finds_the_big_kernel_lock_taken_waits },
	{ 0 },
};
