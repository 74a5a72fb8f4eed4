/*
 * Floating point and SSE registers are a task's own, over switches, ticks, forks and signals.
 *
 * The compiler is told to leave those registers alone, so they hold what the assembly here puts
 * there.
 */
#include "tests.h"

#define TASKS 3
#define ROUNDS 200

static void load(uint64_t value)
{
	uint32_t control = 0x1f80 | ((uint32_t)value & 3) << 13; /* rounding mode */

	__asm__ volatile("movq %0, %%xmm0; movq %0, %%xmm7; movq %0, %%xmm15; ldmxcsr %1"
			 ::"r"(value), "m"(control));
}

static int holds(uint64_t value)
{
	uint64_t a, b, c;
	uint32_t control;

	__asm__ volatile("movq %%xmm0, %0; movq %%xmm7, %1; movq %%xmm15, %2; stmxcsr %3"
			 : "=r"(a), "=r"(b), "=r"(c), "=m"(control));
	return a == value && b == value && c == value && (control >> 13 & 3) == (value & 3);
}

static void yield_and_spin(void)
{
	long number = SYS_sched_yield;

	__asm__ volatile("syscall" : "+a"(number)::"rcx", "r11", "memory");
	for (unsigned i = 0; i < 20000; i++)
		__asm__ volatile("" ::: "memory");
}

static void keep(void *argument)
{
	uint64_t value = (uint64_t)(long)argument * 0x9e3779b97f4a7c15ull;

	expect_equal(pin(0), 0);
	for (int i = 0; i < ROUNDS; i++) {
		load(value + (uint64_t)i);
		yield_and_spin();
		expect(holds(value + (uint64_t)i));
	}
}

static void registers_are_a_tasks_own(void)
{
	long children[TASKS];

	for (long i = 0; i < TASKS; i++) {
		children[i] = sys(SYS_fork);
		if (children[i] == 0) {
			keep((void *)(i + 1));
			quit(0);
		}
	}
	for (int i = 0; i < TASKS; i++)
		expect(exited(wait_for(children[i]), 0));
}

static void clobber(int signal, void *info, struct context *context)
{
	(void)signal, (void)info, (void)context;
	load(0xdead);
}

static void a_handler_keeps_them(void)
{
	long own = sys(SYS_getpid), number = SYS_kill;
	int ok;

	expect_equal(on_signal(SIGUSR1, clobber), 0);
	load(0x1234567);
	__asm__ volatile("syscall" : "+a"(number) : "D"(own), "S"(SIGUSR1) : "rcx", "r11",
			 "memory");
	ok = holds(0x1234567);
	expect(ok);
}

static void a_child_inherits_them(void)
{
	long number = SYS_fork;
	int ok;

	load(0x42);
	__asm__ volatile("syscall" : "+a"(number)::"rcx", "r11", "memory");
	ok = holds(0x42);
	if (number == 0)
		quit(ok ? 0 : 1);
	expect(ok);
	expect(exited(wait_for(number), 0));
}

const struct test fpu_tests[] = {
	{ "fpu.own", registers_are_a_tasks_own },
	{ "fpu.handler", a_handler_keeps_them },
	{ "fpu.fork", a_child_inherits_them },
	{ 0 },
};
