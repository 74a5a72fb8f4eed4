/*
 * Waiting for a mutex; see mutex.h.
 *
 * A waiter leaves MUTEX_WAITED_FOR in it, whether it finds the mutex free or not, so that its
 * holder wakes all waiters. A holder that got it that way may later wake nobody, which is harmless;
 * so is a waiter that a signal took away.
 */
#include "mutex.h"

i64 mutex_wait(struct mutex *mutex)
{
	i64 result = 0;

	wait_prepare(&mutex->waiters);
	while (__atomic_exchange_n(&mutex->state, MUTEX_WAITED_FOR, __ATOMIC_SEQ_CST) !=
	       MUTEX_FREE) {
		if (signal_pending()) {
			result = -ERESTARTSYS;
			break;
		}
		schedule();
		wait_prepare(&mutex->waiters);
	}
	wait_finish(&mutex->waiters);
	return result;
}
