/* Runs programs of other kinds: one of 32 bits, one with the C library. */
#include "tests.h"

/* The variant of `flags` that was booted. */
static char *flags_variant(void)
{
	static char *const names[] = { "flags=save", "flags=constant", "flags=iopl-only" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(command_line(), names[i]))
			return names[i];
	return "flags=entry-clean";
}

static void run(void *unused)
{
	char *smap = strstr(command_line(), "smap=off") ? "smap=off" : "smap=on";
	char *const argv[] = { "/compat", flags_variant(), smap, NULL };
	char *const none[] = { NULL };

	(void)unused;
	sys(SYS_execve, "/compat", argv, none);
	quit(1);
}

static void a_32_bit_program_runs(void)
{
	expect(exited(in_child(run, NULL), 0));
}

static void run_glibc(void *unused)
{
	char *const argv[] = { "/glibc", NULL };
	char *const none[] = { NULL };

	(void)unused;
	sys(SYS_execve, "/glibc", argv, none);
	quit(1);
}

static void a_program_with_the_c_library_runs(void)
{
	expect_equal(in_child(run_glibc, NULL), 0);
}

const struct test compat_tests[] = {
	{ "compat.c-library", a_program_with_the_c_library_runs },
	{ "compat.program", a_32_bit_program_runs },
	{ 0 },
};
