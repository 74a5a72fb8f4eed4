/*
 * The big kernel lock; see bkl.h. A ticket lock, and how often each task has taken it
 * (task->bkl_depth). What is counted is written by the holder only, after it got the lock.
 *
 * Source: Linux 2.6.8 include/linux/smp_lock.h and lib/kernel_lock.c's later form.
 */
#include "bkl.h"
#include "../arch/x86_64/percpu.h"
#include "../arch/x86_64/usercopy.h"
#include "../uapi/lab.h"
#include "printk.h"
#include "sched.h"
#include "syscall.h"

_Static_assert(MAX_CPUS == LAB_CPUS, "uapi/lab.h");

static struct spinlock big_kernel_lock __attribute__((aligned(64)));
static struct lab_bkl counts __attribute__((aligned(64)));

/* How often it was found taken. */
static u64 take(void)
{
	u16 ticket = __atomic_fetch_add(&big_kernel_lock.next, 1, __ATOMIC_RELAXED);
	u64 spins = 0;

	while (unlikely(__atomic_load_n(&big_kernel_lock.owner, __ATOMIC_ACQUIRE) != ticket)) {
		spins++;
		cpu_pause();
	}
	return spins;
}

static void acquire(void)
{
	u64 spins = take();
	u32 cpu = this_cpu()->number;

	counts.cpu[cpu].acquired++;
	if (unlikely(spins)) {
		counts.cpu[cpu].contended++;
		counts.cpu[cpu].spins += spins;
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
