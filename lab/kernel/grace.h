/*
 * Waiting until no CPU can be in a piece of kernel code that it was in at the call: what makes
 * reading lists without a lock safe (McKenney and Slingwine, "Read-Copy Update", 1998).
 *
 * Readers need nothing at all: the kernel is not preemptible, and they neither sleep nor yield.
 */
#ifndef LAB_GRACE_H
#define LAB_GRACE_H

/* Only for kernel threads, holding no lock: moves the caller over all CPUs, and back. */
void grace_wait(void);

#endif
