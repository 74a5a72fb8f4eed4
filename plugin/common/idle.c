/*
 * The clock, asked by a thread of its own.
 */
#include "common/idle.h"

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

enum { VIRTUAL_CLOCK = 1 };	/* of enum QEMUClockType; nanoseconds, an instruction takes one */
int64_t qemu_clock_get_ns(int clock) __attribute__((weak));

uint64_t idle_time;
bool idle_unknown;

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

void woke(uint64_t steps)
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

void forget_wakes(void)
{
	last_wake.known = false;
	idle_time = 0;
	idle_unknown = false;
}
