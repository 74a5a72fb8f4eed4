/*
 * ioperm-latency: task switches between two processes that may use an I/O port, or may not.
 *
 * From: Ingo Molnar, linux-kernel, 21 August 2004: "[patch] context-switching overhead in X,
 * ioport(), 2.6.8.1" (pathmeter experiment ioperm-2004). The thread's program has two processes
 * that give each other the CPU: without a port, with port 80, and with port 65535. This one is
 * written anew. A pipe makes certain that each switch happens, which sched_yield(2) leaves to the
 * scheduler.
 *
 *	cc -O2 -static -I../include -o ioperm-latency ioperm-latency.c
 *	pathmeter run KERNEL -- ./ioperm-latency
 *	pathmeter run KERNEL -- ./ioperm-latency 0x80
 *
 * Regions: round-trip, two task switches with a byte through a pipe each; ioperm, the call itself.
 * Both processes have the port. Each reads it once, as a proof: name one that may be read. Needs
 * root, which it is under pathmeter.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pathmeter.h"
#include "times.h"

enum { WARM_UPS = 11, ROUND_TRIPS = 89, CALLS = 1000 };

/* Both processes on one CPU, so that one runs only if the other does not. */
static void stay_on_this_cpu(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET(cpu, &set);
	if (cpu < 0 || sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity");
}

static long switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		err(1, "getrusage");
	/* Whether the partner's wakeup preempts this process is up to the scheduler. */
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Reads the port, which ends the program if it may not. */
static void use(long port)
{
	if (port >= 0)
		inb(port);
}

/* Sends each byte back until the other side closes. */
static _Noreturn void echo(int from, int to, long port)
{
	char byte;

	use(port);
	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			err(1, "the echo");
	_exit(0);
}

static int exchange(int to, int from, char byte)
{
	char echoed = ~byte;

	return write(to, &byte, 1) == 1 && read(from, &echoed, 1) == 1 && echoed == byte;
}

static int measure(int to, int from)
{
	int good = 1;
	long before, switched;

	for (int i = 0; i < WARM_UPS; i++)
		exchange(to, from, i);
	before = switches();
	for (int i = 0; i < ROUND_TRIPS; i++) {
		int echoed;

		pathmeter_begin("round-trip");
		echoed = exchange(to, from, i);
		pathmeter_end("round-trip");
		good &= pathmeter_expect(echoed);
	}
	switched = switches() - before;
	TIMES("round-trip", CALLS, exchange(to, from, 0));
	return good & pathmeter_expect(switched >= ROUND_TRIPS);
}

/* Whether this process and its children may use the port from now on. */
static int allow(long port)
{
	int result;

	pathmeter_begin("ioperm");
	result = ioperm(port, 1, 1);
	pathmeter_end("ioperm");
	TIMES("ioperm", CALLS, ioperm(port, 1, 1));
	return pathmeter_expect(result == 0);
}

/* The port that the user named, which may be used from now on; -1 without one. */
static long allowed_port(int argc, char **argv)
{
	char *end = "";
	long port = argc > 1 ? strtol(argv[1], &end, 0) : -1;

	if (argc > 2 || *end || port > 0xffff || (argc > 1 && (port < 0 || end == argv[1])))
		errx(2, "usage: ioperm-latency [PORT], a port from 0 to 0xffff");
	if (port >= 0 && !allow(port)) {
		fprintf(stderr, "skipped: ioperm: %s\n", strerror(errno));
		exit(0);
	}
	return port;
}

int main(int argc, char **argv)
{
	long port = allowed_port(argc, argv);
	int there[2], back[2], good, status;
	pid_t partner;

	stay_on_this_cpu();
	use(port);
	if (pipe(there) || pipe(back))
		err(1, "pipe");
	partner = fork();
	if (partner < 0)
		err(1, "fork");
	if (partner == 0) {
		close(there[1]);
		echo(there[0], back[1], port);
	}
	good = measure(there[1], back[0]);
	close(there[1]);
	if (waitpid(partner, &status, 0) != partner || status)
		errx(1, "the partner failed");
	return !good;
}
