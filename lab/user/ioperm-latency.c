/*
 * How long a task switch takes, to and from a task that may use I/O ports: the program of the 2004
 * thread (Ingo Molnar, linux-kernel, 2004-08-21), in our own words for today's compilers.
 *
 * Two real-time tasks on one CPU yield to each other; the shortest of 90 round trips counts. Both
 * have the ports, as there: the partner is forked after they were asked for. In ticks of the
 * time-stamp counter: instructions under an instruction-counting QEMU, cycles elsewhere. Runs on
 * Linux too, as root.
 */
#include "lib.h"

#define ROUNDS 100
#define WARM_UP 10

static uint64_t shortest_round_trip(void)
{
	uint64_t shortest = ~0ull;
	long partner = sys(SYS_fork);

	if (partner == 0)
		for (;;)
			sys(SYS_sched_yield);
	sys(SYS_sched_yield);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = stamp(), end;

		sys(SYS_sched_yield);
		end = stamp();
		if (round >= WARM_UP && end - begin < shortest)
			shortest = end - begin;
	}
	sys(SYS_kill, partner, SIGKILL);
	wait_for(partner);
	return shortest;
}

static void measure(const char *what)
{
	print("%s %lu\n", what, (unsigned long)shortest_round_trip());
}

int main(int argc, char **argv, char **envp)
{
	(void)argc, (void)argv, (void)envp;
	if (pin(0) || real_time(2) || sys(SYS_ioperm, 0x80, 1, 0)) {
		print("ioperm-latency: needs root, for real-time priority and I/O ports\n");
		return 1;
	}
	measure("no ioperm:        ");
	sys(SYS_ioperm, 0x80, 1, 1);
	measure("port 0x80:        ");
	if (sys(SYS_ioperm, 0xffff, 1, 1))
		print("port 0xffff: refused\n");
	else
		measure("port 0xffff too:  ");
	return 0;
}
