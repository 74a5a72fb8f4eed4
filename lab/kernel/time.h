/*
 * Time: the TSC, calibrated once; timers; the tick. The hardware timer of each CPU is one-shot and
 * always set to the earlier of next tick and first timer, so a timer is as exact as the clock.
 */
#ifndef LAB_TIME_H
#define LAB_TIME_H

#include "list.h"
#include "types.h"

#define HZ 250
#define NEVER (~0ul) /* a deadline */

extern u64 tsc_hz;
extern u64 boot_tsc;

u64 time_ns(void);                    /* since boot */
u64 ns_to_tsc(u64 ns);
u64 tsc_to_ns(u64 tsc);

struct timer {
	struct list node;             /* in its CPU's list, by deadline */
	u64 deadline;                 /* TSC */
	void (*expired)(struct timer *timer); /* in the interrupt, interrupts off */
	u32 cpu;
};

void timer_init(struct timer *timer, void (*expired)(struct timer *));
void timer_start(struct timer *timer, u64 deadline); /* on this CPU */
/* True if it had not expired; waits for a running handler. */
bool timer_cancel(struct timer *timer);
void timer_interrupt(void);
/* Has this CPU's timer interrupt by VECTOR_TEST at `deadline` (TSC), or NEVER; interrupts
 * are off. */
void timer_set_device(u64 deadline);
/* Sleeps until `deadline` (TSC) or a signal; true if the time was up. */
bool sleep_until(u64 deadline);

#endif
