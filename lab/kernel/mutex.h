/*
 * Mutexes: locks whose holder may sleep, and which one waits for asleep. What Linux of 2004 took a
 * semaphore of 1 for.
 *
 * No spinlock is held when one is taken. The path with nobody else there is one locked instruction
 * in, one out. Source: Drepper, "Futexes Are Tricky" (2011), mutex 2.
 */
#ifndef LAB_MUTEX_H
#define LAB_MUTEX_H

#include "sched.h"

enum mutex_state { MUTEX_FREE, MUTEX_HELD, MUTEX_WAITED_FOR };

struct mutex {
	u32 state; /* enum mutex_state, atomically */
	struct wait_queue waiters;
};

#define MUTEX_INIT(name) { MUTEX_FREE, WAIT_QUEUE_INIT((name).waiters) }

/* 0, or -ERESTARTSYS if a signal came while it was waited for. */
i64 mutex_wait(struct mutex *mutex);

static inline i64 mutex_lock(struct mutex *mutex)
{
	u32 free = MUTEX_FREE;

	assert_no_spinlock();
	if (likely(__atomic_compare_exchange_n(&mutex->state, &free, MUTEX_HELD, false,
					       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
		return 0;
	return mutex_wait(mutex);
}

static inline void mutex_unlock(struct mutex *mutex)
{
	if (unlikely(__atomic_exchange_n(&mutex->state, MUTEX_FREE, __ATOMIC_SEQ_CST) ==
		     MUTEX_WAITED_FOR))
		wake_up_all(&mutex->waiters);
}

#endif
