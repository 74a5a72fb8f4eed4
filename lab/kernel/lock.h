/*
 * Spinlocks: ticket locks, fair and bounded.
 *
 * Every wait executes `pause`: two CPUs under QEMU's exact clock run in turn, and only pause (or
 * hlt) gives the CPU away. A plain lock leaves interrupts as they are and must never be taken in an
 * interrupt; one that is, is always taken by the irqsave form. The kernel is not preemptible, so a
 * holder runs on until it lets go, interrupts aside.
 *
 * Order, outermost first: see TRICKS.md, "Lock order".
 */
#ifndef LAB_LOCK_H
#define LAB_LOCK_H

#include "../x86/cpu.h"
#include "lockdep.h"
#include "types.h"

struct spinlock {
	u16 owner; /* ticket now served */
	u16 next;  /* ticket for the next that comes */
};

#define SPINLOCK_INIT { 0, 0 }

static inline void spin_lock(struct spinlock *lock)
{
	u16 ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);

	while (unlikely(__atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE) != ticket))
		cpu_pause();
}

static inline void spin_unlock(struct spinlock *lock)
{
	barrier();
	lock->owner++; /* one instruction; nobody else writes it, and x86 keeps stores in order */
}

static inline u64 spin_lock_irqsave(struct spinlock *lock)
{
	u64 flags = irq_save();

	spin_lock(lock);
	return flags;
}

static inline void spin_unlock_irqrestore(struct spinlock *lock, u64 flags)
{
	spin_unlock(lock);
	irq_restore(flags);
}

#ifdef LAB_DEBUG
/* The same, with the order checked before. */
#define LOCKDEP_TAKE(lock)                                                                         \
	({                                                                                         \
		static const struct lock_class *lock_class;                                        \
		lockdep_take(lock, &lock_class, __FILE__, #lock);                                  \
	})
#define spin_lock(lock) (LOCKDEP_TAKE(lock), spin_lock(lock))
#define spin_unlock(lock) (lockdep_drop(lock), spin_unlock(lock))
#define spin_lock_irqsave(lock)                                                                    \
	({                                                                                         \
		u64 lockdep_flags = irq_save();                                                    \
		spin_lock(lock);                                                                   \
		lockdep_flags;                                                                     \
	})
#define spin_unlock_irqrestore(lock, flags) (spin_unlock(lock), irq_restore(flags))
#define assert_no_spinlock() lockdep_assert_none(__FILE__, __LINE__)
#else
#define assert_no_spinlock() ((void)0)
#endif

#endif
