/*
 * The waits of a run, one after the other.
 */
#include "program/idling.h"

#include "common/idle.h"

struct idling idling;

void open_idling(void)
{
	idling = (struct idling){ 0 };
	forget_wakes();
}

void wait_for_interrupt(void)
{
	/* The wait before ended in a way that was not seen. */
	idling.unknown |= idling.waits;
	idling.waits = true;
}

void end_wait(uint64_t steps)
{
	if (!idling.waits)
		return;
	idling.waits = false;
	idle_unknown = false;
	woke(steps);
	if (idling.wakes++)
		idling.unknown |= idle_unknown;
}

uint64_t idle_steps(void)
{
	return idle_time;
}
