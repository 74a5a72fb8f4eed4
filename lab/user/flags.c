/*
 * Flags: what one program sets of NT, AC, ID and DF never shows in another, neither in its own
 * flags nor in the kernel's while it works for it.
 *
 * With flags=iopl-only NT, AC and ID must show in the kernel's: that variant is there to show it,
 * whatever `irq-restore` is.
 */
#include "../uapi/lab.h"
#include "tests.h"

#define NT 0x4000ul
#define AC 0x40000ul
#define ID 0x200000ul
#define DF 0x400ul
#define SWITCHES 50

static uint64_t read_flags(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq; pop %0" : "=r"(flags)::"memory");
	return flags;
}

/* Yields for ever with `flag` set; it must still be set after each yield. */
static void yield_with(uint64_t flag)
{
	for (;;) {
		uint64_t plain = read_flags(), seen;
		long number = SYS_sched_yield;

		__asm__ volatile("push %[set]; popfq; syscall; pushfq; pop %[seen];"
				 "push %[plain]; popfq"
				 : [seen] "=&r"(seen), "+a"(number)
				 : [set] "r"(plain | flag), [plain] "r"(plain)
				 : "rcx", "r11", "memory", "cc");
		if (!(seen & flag))
			quit(1);
	}
}

static int leaks(uint64_t flag, uint64_t *in_kernel)
{
	long partner;
	int leaked = 0, status;

	expect_equal(pin(0), 0);
	expect_equal(real_time(2), 0);
	partner = sys(SYS_fork);
	if (partner == 0)
		yield_with(flag);
	*in_kernel = 0;
	for (int i = 0; i < SWITCHES; i++) {
		sys(SYS_sched_yield);
		leaked |= (read_flags() & flag) != 0;
		*in_kernel |= (uint64_t)sys(SYS_LAB, LAB_YIELD_FLAGS) & flag;
	}
	sys(SYS_kill, partner, SIGKILL);
	status = wait_for(partner);
	expect(killed(status, SIGKILL)); /* else it lost its flag */
	return leaked;
}

static void flags_stay_with_their_program(void)
{
	const uint64_t flags[] = { NT, AC, ID, DF };
	int leaky = strstr(command_line(), "flags=iopl-only") != NULL;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t in_kernel;

		expect_equal(leaks(flags[i], &in_kernel), 0);
		if (leaky && flags[i] != DF)
			expect(in_kernel != 0);
		else
			expect_equal(in_kernel, 0);
	}
}

/* A program that may not change IOPL or IF by popf does not. */
static void popf_changes_no_privilege(void)
{
	uint64_t before = read_flags(), after;

	__asm__ volatile("push %1; popfq; pushfq; pop %0"
			 : "=r"(after)
			 : "r"((before | 0x3000) & ~0x200ul)
			 : "memory", "cc");
	expect_equal(after & 0x3200, before & 0x3200);
}

static void exec_clears_iopl(void)
{
	char *const argv[] = { "/init", "exec-probe", "ports", NULL };
	char *const none[] = { NULL };

	expect_equal(sys(SYS_iopl, 3), 0);
	expect_equal(try_port(0x1234), 0);
	sys(SYS_execve, "/init", argv, none);
	expect(0);
}

const struct test flag_tests[] = {
	{ "flags.stay", flags_stay_with_their_program },
	{ "flags.no-privilege-by-popf", popf_changes_no_privilege },
	{ "flags.exec-clears-iopl", exec_clears_iopl },
	{ 0 },
};
