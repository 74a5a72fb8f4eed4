/* Signals: handlers run and return, defaults kill, timers go off. */
#include "tests.h"

static volatile int caught;

static void note(int signal, void *info, struct context *context)
{
	(void)info, (void)context;
	caught = signal;
}

static void a_handler_runs_and_returns(void)
{
	expect_equal(on_signal(SIGUSR1, note), 0);
	caught = 0;
	expect_equal(sys(SYS_kill, sys(SYS_getpid), SIGUSR1), 0);
	expect_equal(caught, SIGUSR1);
}

static void raise_signal(void *signal)
{
	sys(SYS_kill, sys(SYS_getpid), signal);
}

static void defaults_kill(void)
{
	expect(killed(in_child(raise_signal, (void *)SIGTERM), SIGTERM));
	expect(killed(in_child(raise_signal, (void *)SIGKILL), SIGKILL));
	expect(killed(in_child(raise_signal, (void *)SIGUSR2), SIGUSR2));
	expect(exited(in_child(raise_signal, (void *)SIGCHLD), 0));
}

static void what_is_blocked_waits(void)
{
	uint64_t mask = 1ul << (SIGUSR1 - 1), old;

	expect_equal(on_signal(SIGUSR1, note), 0);
	expect_equal(sys(SYS_rt_sigprocmask, 0, &mask, &old, 8), 0);
	caught = 0;
	sys(SYS_kill, sys(SYS_getpid), SIGUSR1);
	expect_equal(caught, 0);
	expect_equal(sys(SYS_rt_sigprocmask, 2, &old, NULL, 8), 0);
	expect_equal(caught, SIGUSR1);
}

/* A program that makes no system call gets its alarm too. */
static void an_alarm_reaches_a_spinner(void)
{
	uint64_t timer[4] = { 0, 0, 0, 3000 }; /* 3 ms, once */
	uint64_t begin = now_ns();

	expect_equal(on_signal(SIGALRM, note), 0);
	caught = 0;
	expect_equal(sys(SYS_setitimer, 0, timer, NULL), 0);
	while (!caught)
		;
	expect_equal(caught, SIGALRM);
	expect(now_ns() - begin >= 3000000);
}

static void sleep_takes_its_time(void)
{
	uint64_t time[2] = { 0, 5000000 };
	uint64_t begin = now_ns();

	expect_equal(sys(SYS_nanosleep, time, NULL), 0);
	expect(now_ns() - begin >= 5000000);
}

static void a_read_is_interrupted(void)
{
	/* Each 2 ms: the first may come before the read. */
	uint64_t timer[4] = { 0, 2000, 0, 2000 };
	int ends[2];
	char byte;

	expect_equal(sys(SYS_pipe, ends), 0);
	expect_equal(on_signal(SIGALRM, note), 0);
	expect_equal(sys(SYS_setitimer, 0, timer, NULL), 0);
	expect_equal(sys(SYS_read, ends[0], &byte, 1), -4);
}

static uint64_t *fault_address;

static void move_on(int signal, void *info, struct context *context)
{
	caught = signal;
	fault_address = ((uint64_t **)info)[2];
	*context_rip(context) += 2; /* the faulting instruction is two bytes long */
}

static void a_handler_may_fix_a_fault(void)
{
	expect_equal(on_signal(SIGSEGV, move_on), 0);
	caught = 0;
	__asm__ volatile("mov %%eax, (%0)" ::"r"((long)0x4560) : "memory"); /* two bytes long */
	expect_equal(caught, SIGSEGV);
	expect_equal(fault_address, 0x4560);
}

/* A handler that leaves nonsense in its frame harms no one else, least of all the kernel. */
static void spoil(int signal, void *info, struct context *context)
{
	uint64_t *words = (uint64_t *)context;
	struct random random = { (uint64_t)caught * 7919 + 1 };

	(void)signal, (void)info;
	for (int i = 0; i < 3; i++)
		words[5 + random_below(&random, 30)] = random_next(&random);
}

static void take_a_spoilt_frame(void *seed)
{
	caught = (int)(long)seed;
	on_signal(SIGUSR1, spoil);
	sys(SYS_alarm, 1);
	sys(SYS_kill, sys(SYS_getpid), SIGUSR1);
}

static void spoilt_frames_harm_no_one(void)
{
	for (long seed = 0; seed < 300; seed++)
		in_child(take_a_spoilt_frame, (void *)seed);
}

const struct test signal_tests[] = {
	{ "signal.handler", a_handler_runs_and_returns },
	{ "signal.defaults", defaults_kill },
	{ "signal.blocked", what_is_blocked_waits },
	{ "signal.alarm-to-spinner", an_alarm_reaches_a_spinner },
	{ "signal.sleep", sleep_takes_its_time },
	{ "signal.interrupted-read", a_read_is_interrupted },
	{ "signal.fixed-fault", a_handler_may_fix_a_fault },
	{ "signal.spoilt-frames", spoilt_frames_harm_no_one },
	{ 0 },
};
