/*
 * A CPU's last instruction before it waits for an interrupt, and the guest's clock.
 *
 * When all CPUs wait, QEMU's main thread moves the clock on to the next timer, by the time that is
 * left. For QEMU a CPU waits as soon as `hlt` has said so, a moment before the CPU's own thread
 * adds the instructions that it executed last to the clock. In that moment the main thread finds
 * the clock too early, and moves it too far. So before each such instruction the CPU is given work
 * to do once it has left the guest's code: a CPU with work left does not wait, and it does that
 * work after it has added its instructions. The plugin API has no such work of its own; that of
 * adding a callback, or of removing it again, is the cheapest that every version has.
 *
 * Source: QEMU softmmu/icount.c, icount_start_warp_timer() (since 9.1 accel/tcg/icount-common.c);
 * softmmu/cpus.c, cpu_thread_is_idle(); accel/tcg/tcg-accel-ops-rr.c, rr_cpu_thread_fn();
 * plugins/core.c, plugin_cpu_update__locked().
 */
#ifndef PLUGIN_HALT_H
#define PLUGIN_HALT_H

#include "common/qemu.h"

/* Has the clock kept right where the block ends with an instruction that waits. */
void keep_clock_right(const struct qemu_plugin_tb *tb);

#endif
