/*
 * Processes of every kind: forked, vforked, cloned, executed, traced step by step, left behind.
 * Each child asks for its parent's number CALLS times.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 7 };

static volatile int shared;

static void ask(void)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
}

static int cloned(void *unused)
{
	(void)unused;
	ask();
	shared = 42;
	return 0;
}

static int ended_well(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Executed step by step; returns whether it ended. */
static int traced(void)
{
	int status = 0, steps = 0;
	pid_t child = fork();

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		ask();
		_exit(0);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
		steps++;
	}
	return WIFEXITED(status) && steps > CALLS;
}

int main(int count, char **words)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	pid_t child;
	int well = 1;

	if (count > 1) {
		ask();
		return 0;
	}
	child = fork();
	if (!child) {
		ask();
		_exit(0);
	}
	well &= ended_well(child);
	child = vfork();
	if (!child) {
		execl("/proc/self/exe", words[0], "again", NULL);
		_exit(1);
	}
	well &= ended_well(child);
	well &= ended_well(clone(cloned, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL));
	well &= shared == 42;
	well &= traced();
	/* Is killed after the run, and must not disturb the next one. */
	if (!fork())
		for (;;)
			pause();
	return !well;
}
