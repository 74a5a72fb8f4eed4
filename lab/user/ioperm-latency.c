/*
 * How long a task switch takes, to and from a task that may use I/O ports: the program of the 2004
 * thread (Ingo Molnar, linux-kernel, 2004-08-21), in our own words for today's compilers.
 *
 * Two real-time tasks on one CPU yield to each other, both at IOPL 3: interrupts are enabled for an
 * instruction before each yield, and else disabled. Of 100 round trips the shortest of the last 89
 * counts, as there. Both tasks have the ports: the partner is forked after they were asked for. In
 * ticks of the time-stamp counter: instructions under an instruction-counting QEMU, cycles
 * elsewhere.
 *
 * Runs on Linux too, as root: before 5.5 as in 2004, since 5.16 with `cli` and `sti` as faults that
 * the kernel skips, the partner's within the interval. Between the two they kill the program.
 */
#include "lib.h"

#define ROUNDS 100
#define SKIPPED 11 /* `if (i > 10)` */

static inline void let_interrupts_in(void)
{
	__asm__ volatile("sti; nop; cli" ::: "memory");
}

static uint64_t shortest_round_trip(void)
{
	uint64_t shortest = ~0ull;
	long partner = sys(SYS_fork);

	if (partner == 0)
		for (;;) {
			let_interrupts_in();
			sys(SYS_sched_yield);
		}
	sys(SYS_sched_yield);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin, end;

		let_interrupts_in();
		begin = stamp();
		sys(SYS_sched_yield);
		end = stamp();
		if (round >= SKIPPED && end - begin < shortest)
			shortest = end - begin;
	}
	__asm__ volatile("sti");
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
	if (sys(SYS_iopl, 3) || pin(0) || real_time(2)) {
		print("ioperm-latency: needs root, for real-time priority and I/O ports\n");
		return 1;
	}
	measure("no ioperm:        ");
	if (sys(SYS_ioperm, 0x80, 1, 1)) {
		print("ioperm-latency: ioperm of port 0x80 is refused\n");
		return 1;
	}
	measure("port 0x80:        ");
	if (sys(SYS_ioperm, 0xffff, 1, 1))
		print("port 0xffff: refused\n");
	else
		measure("port 0xffff too:  ");
	return 0;
}
