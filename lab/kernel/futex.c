/*
 * futex(2): waiting for a word of user memory to change, and waking the waiters.
 *
 * A word is known by a key: in shared memory its physical address, elsewhere address space and
 * address, since a private page may be copied to another place while someone waits. Tasks that wait
 * hang in one of a few buckets; a bucket's lock (plain) is held from the look at the word until the
 * task is in the list, and by wakers, so no wake-up comes between. Page faults are served under it:
 * it is taken before the lock of an address space.
 *
 * Of futex(2) there are wait and wake, with and without bits; all else is -ENOSYS.
 */
#include "../x86/usercopy.h"
#include "process.h"
#include "sched.h"
#include "syscall.h"
#include "syscalls.h"

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAKE_BITSET 10
#define FUTEX_PRIVATE_FLAG 128u
#define FUTEX_CLOCK_REALTIME 256u /* all clocks are one here */

#define BUCKETS 64

struct bucket {
	struct spinlock lock;
	struct list waiters; /* task->futex, first come first */
};

struct key {
	u64 space, address; /* space 0: the address is physical */
};

/* Zero at boot: a list is made at its bucket's first use, under its lock. */
static struct bucket buckets[BUCKETS];

static struct bucket *lock_bucket(const struct key *key)
{
	u64 hash = (key->space ^ key->address >> 2) * 0x9e3779b97f4a7c15ul;
	struct bucket *bucket = &buckets[hash >> 58];

	spin_lock(&bucket->lock);
	if (!bucket->waiters.next)
		list_init(&bucket->waiters);
	return bucket;
}

static i64 find_key(u64 address, bool private, struct key *key)
{
	u64 phys;
	u32 value;

	if (address & 3)
		return -EINVAL;
	*key = (struct key){ (u64)current->mm, address };
	if (private)
		return 0;
	if (get_user_u32(&value, address)) /* it is in memory then */
		return -EFAULT;
	phys = mm_shared_phys(current->mm, address);
	if (phys)
		*key = (struct key){ 0, phys };
	return 0;
}

i64 futex_wake(u64 address, bool private, u32 count, u32 bits)
{
	struct key key;
	struct bucket *bucket;
	struct list *node, *after;
	i64 woken = 0, error = find_key(address, private, &key);

	if (error)
		return error;
	bucket = lock_bucket(&key);
	list_for_each_safe(node, after, &bucket->waiters) {
		struct task *task = list_entry(node, struct task, futex);

		if (woken == count)
			break;
		if (task->futex_key[0] != key.space || task->futex_key[1] != key.address ||
		    !(task->futex_bits & bits))
			continue;
		list_del(node); /* an empty list tells it that it was woken */
		wake_up_task(task);
		woken++;
	}
	spin_unlock(&bucket->lock);
	return woken;
}

struct sleeper {
	struct timer timer;
	struct task *task;
	bool expired;
};

static void time_is_up(struct timer *timer)
{
	struct sleeper *sleeper = container_of(timer, struct sleeper, timer);

	WRITE_ONCE(sleeper->expired, true);
	wake_up_task(sleeper->task);
}

/* Sleeps until it is woken, out of the bucket's list then, the time is up, or a signal comes. */
static void sleep(struct sleeper *sleeper, u64 deadline)
{
	struct task *task = current;

	timer_init(&sleeper->timer, time_is_up);
	if (deadline)
		timer_start(&sleeper->timer, deadline);
	for (;;) {
		/* A full barrier, as in wait_prepare(). */
		__atomic_store_n(&task->state, TASK_SLEEPING, __ATOMIC_SEQ_CST);
		if (READ_ONCE(task->futex.next) == &task->futex || READ_ONCE(sleeper->expired) ||
		    signal_pending())
			break;
		schedule();
	}
	task->state = TASK_RUNNING;
	if (deadline)
		timer_cancel(&sleeper->timer);
}

/* Puts the current task into the list if the word has the value; 0, -EAGAIN or -EFAULT. */
static i64 enqueue(struct bucket *bucket, const struct key *key, u64 address, u32 expected,
		   u32 bits)
{
	struct task *task = current;
	u32 value;

	if (get_user_u32(&value, address))
		return -EFAULT;
	if (value != expected)
		return -EAGAIN;
	task->futex_key[0] = key->space;
	task->futex_key[1] = key->address;
	task->futex_bits = bits;
	list_add_before(&task->futex, &bucket->waiters);
	return 0;
}

static i64 futex_wait(u64 address, bool private, u32 expected, u64 deadline, u32 bits)
{
	struct sleeper sleeper = { .task = current };
	struct bucket *bucket;
	struct key key;
	bool woken;
	i64 error = find_key(address, private, &key);

	if (error)
		return error;
	bucket = lock_bucket(&key);
	error = enqueue(bucket, &key, address, expected, bits);
	spin_unlock(&bucket->lock);
	if (error)
		return error;
	sleep(&sleeper, deadline);
	/* The lock also waits for a waker to be through with us. */
	spin_lock(&bucket->lock);
	woken = list_empty(&current->futex);
	list_del(&current->futex);
	spin_unlock(&bucket->lock);
	if (woken)
		return 0;
	if (sleeper.expired)
		return -ETIMEDOUT;
	return deadline ? -EINTR : -ERESTARTSYS; /* a relative time must not begin again */
}

/* TSC at which `timeout` (ns) is over; FUTEX_WAIT counts from now, FUTEX_WAIT_BITSET from boot. */
static u64 deadline_of(u32 command, u64 timeout)
{
	u64 from = command == FUTEX_WAIT ? read_tsc() : boot_tsc, duration = ns_to_tsc(timeout);

	return from + duration < from ? ~0ul : from + duration;
}

static i64 futex(u64 address, u32 operation, u32 value, const u64 *timeout, u32 bits)
{
	u32 command = operation & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	bool private = operation & FUTEX_PRIVATE_FLAG;

	if (command == FUTEX_WAIT || command == FUTEX_WAKE)
		bits = ~0u;
	else if (!bits)
		return -EINVAL;
	switch (command) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return futex_wait(address, private, value,
				  timeout ? deadline_of(command, *timeout) : 0, bits);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return futex_wake(address, private, value, bits);
	default:
		return -ENOSYS;
	}
}

static bool has_timeout(u32 operation)
{
	u32 command = operation & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);

	return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

i64 sys_futex(u64 address, u64 operation, u64 value, u64 timeout, u64 address2, u64 value3)
{
	u64 ns;
	i64 error;

	if (!timeout || !has_timeout(operation))
		return futex(address, operation, value, NULL, value3);
	error = timespec_from_user(&ns, timeout);
	return error ? error : futex(address, operation, value, &ns, value3);
}

i64 compat_futex(u64 address, u64 operation, u64 value, u64 timeout, u64 address2, u64 value3)
{
	u64 ns;
	i64 error;

	if (!timeout || !has_timeout(operation))
		return futex(address, operation, value, NULL, value3);
	error = compat_timespec_from_user(&ns, timeout);
	return error ? error : futex(address, operation, value, &ns, value3);
}
