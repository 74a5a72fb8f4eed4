/*
 * The guest's time that passes while its CPU waits for an interrupt. It is no work: nothing is
 * executed, and QEMU's clock jumps to the next timer.
 *
 * The plugin API has no clock. QEMU's own is asked for, where the program offers that function to
 * its modules, as Debian's does; elsewhere how long the CPU waited is unknown. On the CPU's thread
 * it may not be asked for within a block of code ("Bad icount read"), so another thread asks, while
 * the CPU's waits for it. What that one hears is the time at which the CPU last began to execute:
 * in the first block after `hlt`, the time at which it woke. Between two such moments the clock has
 * advanced by the steps that were executed and by the second wait. An instruction that faults is
 * counted as a step here and not by the clock: so a wait is short by one for each fault since the
 * one before.
 *
 * Source: QEMU include/qemu/timer.h, qemu_clock_get_ns(); softmmu/icount.c (since 9.1
 * accel/tcg/icount-common.c), icount_get_raw_locked() and icount_start_warp_timer().
 */
#ifndef PLUGIN_IDLE_H
#define PLUGIN_IDLE_H

#include <pthread.h>
#include <semaphore.h>

#include "common.h"

enum { VIRTUAL_CLOCK = 1 };	/* of enum QEMUClockType; nanoseconds, an instruction takes one */
int64_t qemu_clock_get_ns(int clock) __attribute__((weak));

static uint64_t idle_time;	/* so far */
static bool idle_unknown;	/* the CPU waited, and it can't be told how long */

static struct {
	sem_t asked, answered;
	int64_t answer;
	bool running, failed;
} clock_thread;

static struct { int64_t clock; uint64_t steps; bool known; } last_wake;

static void *answer_clock(void *unused)
{
	for (;;) {
		while (sem_wait(&clock_thread.asked))
			;
		clock_thread.answer = qemu_clock_get_ns(VIRTUAL_CLOCK);
		sem_post(&clock_thread.answered);
	}
	return unused;
}

static bool start_clock_thread(void)
{
	pthread_t thread;

	if (clock_thread.running || clock_thread.failed)
		return clock_thread.running;
	clock_thread.failed = !qemu_clock_get_ns || sem_init(&clock_thread.asked, 0, 0) ||
			      sem_init(&clock_thread.answered, 0, 0) ||
			      pthread_create(&thread, NULL, answer_clock, NULL);
	clock_thread.running = !clock_thread.failed;
	return clock_thread.running;
}

/* The CPU executes its first block after it had waited; so many steps were executed until now. */
static void woke(uint64_t steps)
{
	if (!start_clock_thread()) {
		idle_unknown = true;
		return;
	}
	sem_post(&clock_thread.asked);
	while (sem_wait(&clock_thread.answered))
		;
	if (last_wake.known)
		idle_time += clock_thread.answer - last_wake.clock - (steps - last_wake.steps);
	else
		idle_unknown = true;
	last_wake.clock = clock_thread.answer;
	last_wake.steps = steps;
	last_wake.known = true;
}

#endif
