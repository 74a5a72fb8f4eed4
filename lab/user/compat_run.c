/* Runs the 32-bit program. */
#include "tests.h"

static void run(void *unused)
{
	int leaky = strstr(command_line(), "flags=iopl-only") != NULL;
	char *const argv[] = { "/compat", leaky ? "leaky" : NULL, NULL };
	char *const none[] = { NULL };

	(void)unused;
	sys(SYS_execve, "/compat", argv, none);
	quit(1);
}

static void a_32_bit_program_runs(void)
{
	expect(exited(in_child(run, NULL), 0));
}

const struct test compat_tests[] = {
	{ "compat.program", a_32_bit_program_runs },
	{ 0 },
};
