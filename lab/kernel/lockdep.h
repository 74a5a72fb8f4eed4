/*
 * Debug builds (make DEBUG=1) check each spinlock's place in the order of TRICKS.md as it is taken,
 * and whether interrupts are as its kind wants them. Release builds have none of this.
 */
#ifndef LAB_LOCKDEP_H
#define LAB_LOCKDEP_H

struct spinlock;
struct lock_class;

#ifdef LAB_DEBUG
/* As if the lock were taken at `file` by the expression `text`; *class is kept for the next time.
 * A wrong order is a panic that names both locks, as is a lock without a place in it. */
void lockdep_take(struct spinlock *lock, const struct lock_class **class, const char *file,
		  const char *text);
void lockdep_drop(struct spinlock *lock);
/* Asserts that nothing is held: before code that sleeps or takes a mutex. */
void lockdep_assert_none(const char *file, int line);
/* From here on; this CPU's GS is set. */
void lockdep_start(void);
/* `test.lock-order`: takes two locks the wrong way round. */
void lockdep_test(const char *command_line);
#else
static inline void lockdep_start(void) {}
static inline void lockdep_test(const char *command_line) {}
#endif

#endif
