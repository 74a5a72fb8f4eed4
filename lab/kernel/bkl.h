/*
 * The big kernel lock, as Linux had it from 2.0 to 2.6.38: a spinlock that a task may take again
 * while it has it. schedule() drops it for a task that sleeps and takes it again before that task
 * goes on.
 *
 * Only the variants `ioctl=bkl` and `compat-ioctl=hash-bkl` take it. Outermost of all locks: never
 * taken with a spinlock held, never in an interrupt. TRICKS.md, "The big kernel lock".
 */
#ifndef LAB_BKL_H
#define LAB_BKL_H

#include "types.h"

void bkl_lock(void);
void bkl_unlock(void);
/* In place of schedule_plain() in variants that use the lock. */
void schedule_bkl(void);
/* LAB_BKL: writes struct lab_bkl to user address `out`, and starts to count anew; 0 or -EFAULT. */
i64 bkl_take_counts(u64 out);

#endif
