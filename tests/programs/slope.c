/*
 * Work by its argument N: N calls of getppid, and a loop over the N * N / 2 pairs of N, in a region
 * of its own. The loops are assembly, so that no compiler changes what a turn costs.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pathmeter.h"

/* Two instructions a turn. */
static void turn(long turns)
{
	__asm__ volatile("1:\n\tdec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;

	if (n < 2)
		return 1;
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
	pathmeter_begin("pairs");
	turn(n * n / 2);
	pathmeter_end("pairs");
	return 0;
}
