/*
 * What a program's regions take on the machine that it runs on, in nanoseconds and in ticks of the
 * time stamp counter. Only programs built with PRINT_TIMES (`make times`) print it: the others,
 * whose instructions are counted, have nothing of it.
 *
 *	TIMES("getppid", 10000, result = getppid());
 *
 * Of 25 batches of so many calls it is the 25th percentile, with the loop and, where the code has
 * them, the marks: some ticks. A tick is not a cycle of the core.
 */
#ifndef TIMES_H
#define TIMES_H

#ifndef PRINT_TIMES
#define TIMES(name, calls, ...) ((void)0)
#else

#if __STDC_HOSTED__
#include <stdio.h>
#include <time.h>

static unsigned long times_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ul + time.tv_nsec;
}

static void times_line(const char *name, unsigned long tenths, unsigned long tenths_of_ticks)
{
	printf("%-20s %9.1f ns %9.1f ticks\n", name, tenths / 10.0, tenths_of_ticks / 10.0);
}
#else
/* A program without libc has its own. Differences of clocks are taken modulo 2^32 with 32 bits. */
static unsigned long times_clock(void);
static void times_line(const char *name, unsigned long tenths, unsigned long tenths_of_ticks);
#endif

enum { TIMES_BATCHES = 25, TIMES_BELOW = TIMES_BATCHES / 4 };

static inline unsigned long times_ticks(void)
{
	unsigned long low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	/* With 32 bits nothing is left of the upper half. */
	return low | (sizeof(long) > 4 ? high << 16 << 16 : 0);
}

/* The value that a quarter of them is below. */
static unsigned long times_quartile(const unsigned long *values)
{
	for (int i = 0; i < TIMES_BATCHES; i++) {
		int below = 0, most = 0;

		for (int k = 0; k < TIMES_BATCHES; k++) {
			below += values[k] < values[i];
			most += values[k] <= values[i];
		}
		if (below <= TIMES_BELOW && most > TIMES_BELOW)
			return values[i];
	}
	return 0;
}

#define TIMES(name, calls, ...) do {						\
	unsigned long times_ns[TIMES_BATCHES], times_of_ticks[TIMES_BATCHES];	\
	for (int times_i = 0; times_i < TIMES_BATCHES; times_i++) {		\
		unsigned long clock = times_clock(), ticks = times_ticks();	\
		for (int times_call = 0; times_call < (calls); times_call++) {	\
			__VA_ARGS__;						\
		}								\
		times_of_ticks[times_i] = times_ticks() - ticks;		\
		times_ns[times_i] = times_clock() - clock;			\
	}									\
	times_line(name, times_quartile(times_ns) * 10 / (calls),		\
		   times_quartile(times_of_ticks) * 10 / (calls));		\
} while (0)

#endif
#endif
