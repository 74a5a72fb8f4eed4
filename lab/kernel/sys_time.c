/*
 * System calls about time: clocks, sleeping, the interval timer.
 *
 * All clocks are one: nanoseconds since boot. There is no clock of the day, so CLOCK_REALTIME began
 * in 1970, at boot; the clocks of CPU time do not exist (times are not accounted).
 */
#include "../x86/usercopy.h"
#include "process.h"
#include "sched.h"
#include "syscall.h"
#include "syscalls.h"

#define NS_PER_S 1000000000ul
#define NS_PER_US 1000ul
#define US_PER_S 1000000ul
#define SECONDS_MAX (~0ul / NS_PER_S - 1)

#define ITIMER_REAL 0
#define TIMER_ABSTIME 1

/* What clock_gettime(2) may be asked for: REALTIME, MONOTONIC, their RAW and COARSE forms,
 * BOOTTIME. */
#define CLOCKS (1u << 0 | 1u << 1 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7)

struct timespec {
	i64 seconds, ns;
};

struct timespec32 {
	i32 seconds, ns;
};

struct timeval {
	i64 seconds, us;
};

struct timeval32 {
	i32 seconds, us;
};

struct itimerval {
	struct timeval interval, value;
};

struct itimerval32 {
	struct timeval32 interval, value;
};

static i64 timespec_to_ns(u64 *ns, i64 seconds, i64 rest)
{
	if (seconds < 0 || (u64)rest >= NS_PER_S)
		return -EINVAL;
	*ns = min((u64)seconds, SECONDS_MAX) * NS_PER_S + rest;
	return 0;
}

i64 timespec_from_user(u64 *ns, u64 from)
{
	struct timespec time;

	if (copy_from_user(&time, from, sizeof(time)))
		return -EFAULT;
	return timespec_to_ns(ns, time.seconds, time.ns);
}

i64 compat_timespec_from_user(u64 *ns, u64 from)
{
	struct timespec32 time;

	if (copy_from_user(&time, from, sizeof(time)))
		return -EFAULT;
	return timespec_to_ns(ns, time.seconds, time.ns);
}

static i64 timespec_to_user(u64 to, u64 ns)
{
	struct timespec time = { ns / NS_PER_S, ns % NS_PER_S };

	return copy_to_user(to, &time, sizeof(time)) ? -EFAULT : 0;
}

static i64 compat_timespec_to_user(u64 to, u64 ns)
{
	struct timespec32 time = { ns / NS_PER_S, ns % NS_PER_S };

	return copy_to_user(to, &time, sizeof(time)) ? -EFAULT : 0;
}

static bool clock_valid(u64 clock)
{
	return (u32)clock < 32 && CLOCKS >> (u32)clock & 1;
}

i64 sys_clock_gettime(u64 clock, u64 out)
{
	return clock_valid(clock) ? timespec_to_user(out, time_ns()) : -EINVAL;
}

i64 compat_clock_gettime(u64 clock, u64 out)
{
	return clock_valid(clock) ? compat_timespec_to_user(out, time_ns()) : -EINVAL;
}

i64 sys_clock_getres(u64 clock, u64 out)
{
	if (!clock_valid(clock))
		return -EINVAL;
	return out ? timespec_to_user(out, 1) : 0;
}

i64 compat_clock_getres(u64 clock, u64 out)
{
	if (!clock_valid(clock))
		return -EINVAL;
	return out ? compat_timespec_to_user(out, 1) : 0;
}

i64 sys_gettimeofday(u64 time, u64 zone)
{
	u64 ns = time_ns();
	struct timeval now = { ns / NS_PER_S, ns % NS_PER_S / NS_PER_US };
	static const u32 utc[2];

	if ((time && copy_to_user(time, &now, sizeof(now))) ||
	    (zone && copy_to_user(zone, utc, sizeof(utc))))
		return -EFAULT;
	return 0;
}

i64 compat_gettimeofday(u64 time, u64 zone)
{
	u64 ns = time_ns();
	struct timeval32 now = { ns / NS_PER_S, ns % NS_PER_S / NS_PER_US };
	static const u32 utc[2];

	if ((time && copy_to_user(time, &now, sizeof(now))) ||
	    (zone && copy_to_user(zone, utc, sizeof(utc))))
		return -EFAULT;
	return 0;
}

i64 sys_time(u64 out)
{
	u64 seconds = time_ns() / NS_PER_S;

	return out && put_user_u64(out, seconds) ? -EFAULT : (i64)seconds;
}

i64 compat_time(u64 out)
{
	u64 seconds = time_ns() / NS_PER_S;

	return out && put_user_u32(out, seconds) ? -EFAULT : (i64)seconds;
}

/* Sleeps until the TSC has that value; *left_ns is what was left when a signal came (-EINTR). */
static i64 sleep_ns(u64 deadline, u64 *left_ns)
{
	u64 now;

	if (sleep_until(deadline))
		return 0;
	now = read_tsc();
	*left_ns = deadline > now ? tsc_to_ns(deadline - now) : 0;
	return -EINTR;
}

static u64 later(u64 from, u64 ns)
{
	u64 deadline = from + ns_to_tsc(ns);

	return deadline < from ? ~0ul : deadline;
}

static i64 nanosleep(u64 duration, u64 remaining, bool compat)
{
	u64 ns, left;
	i64 error;
	i64 result = compat ? compat_timespec_from_user(&ns, duration)
			    : timespec_from_user(&ns, duration);

	if (result)
		return result;
	result = sleep_ns(later(read_tsc(), ns), &left);
	if (!result || !remaining)
		return result;
	error = compat ? compat_timespec_to_user(remaining, left)
		       : timespec_to_user(remaining, left);
	return error ? error : result;
}

i64 sys_nanosleep(u64 duration, u64 remaining)
{
	return nanosleep(duration, remaining, false);
}

i64 compat_nanosleep(u64 duration, u64 remaining)
{
	return nanosleep(duration, remaining, true);
}

i64 sys_clock_nanosleep(u64 clock, u64 flags, u64 duration, u64 remaining)
{
	u64 ns, left;
	i64 result;

	if (!clock_valid(clock))
		return -EINVAL;
	if (!(flags & TIMER_ABSTIME))
		return sys_nanosleep(duration, remaining);
	result = timespec_from_user(&ns, duration);
	if (result)
		return result;
	result = sleep_ns(later(boot_tsc, ns), &left);
	return result ? -ERESTARTNOHAND : 0;
}

/*
 * The interval timer. Its handler runs in the interrupt and looks under tasks_lock whether the
 * timer is still armed: setting it disarms it first, then waits for a handler that runs, so one
 * that was late does nothing. TRICKS.md, "The interval timer".
 */
void itimer_expired(struct timer *timer)
{
	struct group *group = container_of(timer, struct group, itimer);
	struct signal_info info = { .number = SIGALRM, .code = SI_KERNEL };
	u64 flags = spin_lock_irqsave(&tasks_lock);

	if (group->itimer_armed) {
		group->itimer_armed = group->itimer_interval != 0;
		if (group->itimer_armed)
			timer_start(timer, timer->deadline + group->itimer_interval);
		signal_send_group(group, &info);
	}
	spin_unlock_irqrestore(&tasks_lock, flags);
}

void itimer_stop(struct group *group)
{
	u64 flags = spin_lock_irqsave(&tasks_lock);

	group->itimer_armed = false;
	spin_unlock_irqrestore(&tasks_lock, flags);
	timer_cancel(&group->itimer);
}

/* Times of an interval timer, in ns; value 0: not armed. */
struct interval {
	u64 value, interval;
};

static struct interval itimer_get(struct group *group)
{
	u64 now, flags = spin_lock_irqsave(&tasks_lock);
	struct interval times = { 0, tsc_to_ns(group->itimer_interval) };

	now = read_tsc();
	/* An armed timer that is due has a moment left. */
	if (group->itimer_armed)
		times.value = group->itimer.deadline > now
				      ? tsc_to_ns(group->itimer.deadline - now) : 1;
	spin_unlock_irqrestore(&tasks_lock, flags);
	return times;
}

static struct interval itimer_set(struct group *group, struct interval times)
{
	struct interval old;
	u64 flags;

	spin_lock(&group->itimer_lock);
	old = itimer_get(group);
	itimer_stop(group);
	flags = spin_lock_irqsave(&tasks_lock);
	group->itimer_interval = ns_to_tsc(times.interval);
	group->itimer_armed = times.value != 0;
	if (times.value)
		timer_start(&group->itimer, later(read_tsc(), times.value));
	spin_unlock_irqrestore(&tasks_lock, flags);
	spin_unlock(&group->itimer_lock);
	return old;
}

i64 sys_alarm(u64 seconds)
{
	struct interval times = { (u32)seconds * NS_PER_S, 0 };
	struct interval old = itimer_set(current->group, times);

	return (old.value + NS_PER_S - 1) / NS_PER_S;
}

static bool timeval_valid(i64 seconds, i64 us)
{
	return seconds >= 0 && (u64)us < US_PER_S;
}

static u64 timeval_to_ns(i64 seconds, i64 us)
{
	return min((u64)seconds, SECONDS_MAX) * NS_PER_S + us * NS_PER_US;
}

static struct itimerval to_itimerval(struct interval times)
{
	return (struct itimerval){
		{ times.interval / NS_PER_S, times.interval % NS_PER_S / NS_PER_US },
		{ times.value / NS_PER_S, times.value % NS_PER_S / NS_PER_US },
	};
}

static i64 setitimer(u64 which, const struct itimerval *wanted, struct itimerval *old)
{
	struct interval times;

	if ((u32)which != ITIMER_REAL ||
	    !timeval_valid(wanted->value.seconds, wanted->value.us) ||
	    !timeval_valid(wanted->interval.seconds, wanted->interval.us))
		return -EINVAL;
	times.value = timeval_to_ns(wanted->value.seconds, wanted->value.us);
	times.interval = timeval_to_ns(wanted->interval.seconds, wanted->interval.us);
	*old = to_itimerval(itimer_set(current->group, times));
	return 0;
}

i64 sys_setitimer(u64 which, u64 value, u64 old)
{
	struct itimerval wanted = { 0 }, before;
	i64 error;

	if (value && copy_from_user(&wanted, value, sizeof(wanted)))
		return -EFAULT;
	error = setitimer(which, &wanted, &before);
	if (!error && old && copy_to_user(old, &before, sizeof(before)))
		return -EFAULT;
	return error;
}

i64 compat_setitimer(u64 which, u64 value, u64 old)
{
	struct itimerval32 narrow = { 0 };
	struct itimerval wanted, before;
	i64 error;

	if (value && copy_from_user(&narrow, value, sizeof(narrow)))
		return -EFAULT;
	wanted = (struct itimerval){
		{ narrow.interval.seconds, narrow.interval.us },
		{ narrow.value.seconds, narrow.value.us },
	};
	error = setitimer(which, &wanted, &before);
	narrow = (struct itimerval32){
		{ before.interval.seconds, before.interval.us },
		{ before.value.seconds, before.value.us },
	};
	if (!error && old && copy_to_user(old, &narrow, sizeof(narrow)))
		return -EFAULT;
	return error;
}

i64 sys_getitimer(u64 which, u64 value)
{
	struct itimerval now = to_itimerval(itimer_get(current->group));

	if ((u32)which != ITIMER_REAL)
		return -EINVAL;
	return copy_to_user(value, &now, sizeof(now)) ? -EFAULT : 0;
}
