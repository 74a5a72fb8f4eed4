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

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"

extern HIDDEN uint64_t idle_time;	/* so far */
extern HIDDEN bool idle_unknown;	/* the CPU waited, and it can't be told how long */

/* The CPU executes its first block after it had waited; so many steps were executed until now. */
void woke(uint64_t steps);

/* Steps are counted anew, from any number: how long the next wait is can't be told, and nothing is
 * unknown yet. */
void forget_wakes(void);

#endif
