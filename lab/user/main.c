/*
 * /init of the test machine: runs every test in a child, tells what came of it, ends the machine.
 *
 * Words on the kernel's command line: `test.only=NAME` (or a
 * group's, as in `test.only=ioctl.`), `test.exact=1` (under the exact clock), `test.steps=N`,
 * `test.fuzz=SECONDS`, `test.serve=ANSWERS`.
 * What a test prints stands above its line. The last line is `all N tests passed`, or not.
 */
#include "fuzz.h"
#include "network.h"
#include "tests.h"

static int chosen(const char *name)
{
	const char *only = strstr(command_line(), "test.only=");
	size_t length = strlen(name);

	if (!only)
		return 1;
	only += strlen("test.only=");
	if (!memcmp(only, name, length) && only[length] <= ' ')
		return 1;
	for (length = 0; only[length] > ' '; length++)
		if (only[length] != name[length])
			return 0;
	return length > 0 && only[length - 1] == '.';
}

static void run_body(void *body)
{
	((void (*)(void))body)();
}

static unsigned run_all(const struct test *test, unsigned *failed)
{
	unsigned count = 0;

	for (; test->name; test++) {
		int status;

		if (!chosen(test->name))
			continue;
		status = in_child(run_body, (void *)test->run);
		count++;
		if (exited(status, 0)) {
			print("ok    %s\n", test->name);
		} else {
			print("FAIL  %s (status 0x%x)\n", test->name, (unsigned)status);
			++*failed;
		}
	}
	return count;
}

static _Noreturn void power_off(void)
{
	sys(SYS_reboot, 0xfee1dead, 0x28121969, 0x01234567, 0);
	quit(1); /* as init: the kernel panics */
}

int main(int argc, char **argv, char **envp)
{
	const struct test *const groups[] = { process_tests, memory_tests, signal_tests,
					      schedule_tests, fpu_tests, flag_tests, cpu_tests,
					      port_tests, hostile_tests, compat_tests, ioctl_tests,
					      ioctl_lock_tests, softirq_tests, link_tests };
	unsigned count = 0, failed = 0;

	(void)envp;
	if (argc > 1 && !strcmp(argv[1], "port-worker"))
		return port_worker(argv);
	if (argc > 1 && !strcmp(argv[1], "exec-probe"))
		return exec_probe(argc, argv);
	/* 0, 1 and 2, should the kernel have opened none. */
	sys(SYS_open, "/dev/console", O_RDWR, 0);
	sys(SYS_dup2, 0, 1);
	sys(SYS_dup2, 0, 2);
	read_command_line();
	if (option("test.fuzz", 0)) {
		fuzz((unsigned)option("test.fuzz", 0), (uint64_t)option("test.seed", 1));
		power_off();
	}
	if (option("test.serve", 0)) {
		serve((uint64_t)option("test.serve", 0));
		power_off();
	}
	for (unsigned i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		count += run_all(groups[i], &failed);
	if (failed || !count)
		print("%u of %u tests FAILED\n", failed, count);
	else
		print("all %u tests passed\n", count);
	power_off();
}
