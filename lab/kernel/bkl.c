/*
 * The big kernel lock; see bkl.h. A ticket lock, and how often each task has taken it
 * (task->bkl_depth). What is counted is written by the holder only, after it got the lock.
 *
 * Source: Linux 2.6.8 include/linux/smp_lock.h and lib/kernel_lock.c's later form.
 */
#include "bkl.h"
#include "../uapi/lab.h"
#include "../x86/percpu.h"
#include "../x86/usercopy.h"
#include "printk.h"
#include "sched.h"
#include "syscall.h"

_Static_assert(MAX_CPUS == LAB_CPUS, "uapi/lab.h");

static struct spinlock big_kernel_lock __attribute__((aligned(64)));
static struct lab_bkl counts __attribute__((aligned(64)));

static inline bool is_served(u16 ticket)
{
	return __atomic_load_n(&big_kernel_lock.owner, __ATOMIC_ACQUIRE) == ticket;
}

/* What it took to get the lock: looks at it while it was taken, and TSC ticks of them. */
struct wait {
	u64 spins, ticks;
};

/* The time is read only where the lock was found taken. */
static struct wait take(void)
{
	u16 ticket = __atomic_fetch_add(&big_kernel_lock.next, 1, __ATOMIC_RELAXED);
	u64 spins = 0, begin;

	if (likely(is_served(ticket)))
		return (struct wait){ 0 };
	begin = read_tsc();
	do {
		spins++;
		cpu_pause();
	} while (!is_served(ticket));
	return (struct wait){ spins, read_tsc() - begin };
}

static void acquire(void)
{
	struct wait wait = take();
	u32 cpu = this_cpu()->number;

	counts.cpu[cpu].acquired++;
	if (unlikely(wait.spins)) {
		counts.cpu[cpu].contended++;
		counts.cpu[cpu].spins += wait.spins;
		counts.cpu[cpu].waited += wait.ticks;
	}
}

static void release(void)
{
	barrier();
	big_kernel_lock.owner++;
}

void bkl_lock(void)
{
	assert_no_spinlock();
	if (current->bkl_depth++ == 0)
		acquire();
}

void bkl_unlock(void)
{
	if (--current->bkl_depth == 0)
		release();
}

void schedule_bkl(void)
{
	u32 depth = current->bkl_depth;

	if (depth)
		release();
	schedule_plain();
	if (depth)
		acquire();
}

i64 bkl_take_counts(u64 out)
{
	struct lab_bkl taken;

	take(); /* uncounted */
	taken = counts;
	counts = (struct lab_bkl){ 0 };
	release();
	return copy_to_user(out, &taken, sizeof(taken)) ? -EFAULT : 0;
}
