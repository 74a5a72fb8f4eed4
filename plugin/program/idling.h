/*
 * How long the CPU waits in a run (common/idle.h). The first wait of a run has no known begin: the
 * host knows how long all of them are together, by the guest's clock, and so that of the first.
 */
#ifndef PLUGIN_IDLING_H
#define PLUGIN_IDLING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"

struct idling {
	bool waits;		/* the CPU was told to */
	uint64_t wakes;		/* in this run */
	bool unknown;		/* how long some wait but the first was */
};
extern HIDDEN struct idling idling;

/* A run begins. */
void open_idling(void);

/* The CPU is told to wait. */
void wait_for_interrupt(void);

/* The kernel is entered, maybe after a wait; so many steps were executed until now. */
void end_wait(uint64_t steps);

/* The steps of the clock in all waits of the run so far but the first. */
uint64_t idle_steps(void);

#endif
