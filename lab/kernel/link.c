/*
 * A modelled link, for what a lost softirq costs a program: it sends a request, and sleeps until
 * the answer has been handled. What comes back are two frames, an acknowledgement and the answer,
 * at times that the program chooses. Of each the test device interrupts and raises NET_RX; handling
 * it takes as many instructions as was asked. Nothing is sent anywhere.
 *
 * The handler takes the frames that are there as it begins, as a tasklet of 2.4.5 took its list
 * (tasklet_action() in kernel/softirq.c). A frame that comes while it runs raises NET_RX again,
 * and the variant of `softirq` decides when that is seen.
 *
 * Should nothing look for softirqs for long, the other side's repeated answers end the wait.
 *
 * One program at a time. It sleeps with the request, so a signal ends its wait.
 */
#include "link.h"
#include "../uapi/lab.h"
#include "../x86/percpu.h"
#include "../x86/usercopy.h"
#include "../x86/x86.h"
#include "sched.h"
#include "softirq.h"
#include "syscall.h"
#include "time.h"
#include "virtio_net.h"

#define FRAMES 2
#define WORK_MOST (1ul << 20)
#define DELAY_MOST (1ul << 40)
#define REPEAT_NS 200000000ul /* as TCP does at the earliest: TCP_RTO_MIN of Linux 2.4 */

/* Set by the program while no frame is due; `handled` then counts up on the CPU that it was on. */
static struct {
	bool there;
	bool busy;
	u64 comes[FRAMES]; /* TSC; NEVER for a request that is over */
	u64 work;          /* instructions a frame */
	u32 handled;
} link;

static struct wait_queue answered = WAIT_QUEUE_INIT(answered);

static void spend(u64 instructions)
{
	u64 turns = instructions / 2;

	if (turns)
		__asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns) : : "cc");
}

/* NET_RX. */
static void receive(void)
{
	u64 now = read_tsc();
	u32 handled = link.handled, there = handled;

	while (there < FRAMES && link.comes[there] <= now)
		there++;
	for (; handled < there; handled++)
		spend(link.work);
	if (link.handled != handled) {
		WRITE_ONCE(link.handled, handled);
		if (handled == FRAMES)
			wake_up_all(&answered);
	}
}

static bool valid(const struct lab_round_trip *trip)
{
	return trip->first < DELAY_MOST && trip->second < DELAY_MOST && trip->work <= WORK_MOST;
}

static void send(const struct lab_round_trip *trip)
{
	u64 flags = irq_save();

	link.work = trip->work;
	link.handled = 0;
	link.comes[0] = read_tsc() + trip->first;
	link.comes[1] = link.comes[0] + trip->second;
	softirq_test_arm_more(LAB_NET_RX, link.comes[0], link.comes[1], ns_to_tsc(REPEAT_NS));
	irq_restore(flags);
}

/* On the CPU that it was sent on, usually: another one's device repeats once more, in vain. */
static void stop_repeating(void)
{
	u64 flags = irq_save();

	softirq_test_arm_more(LAB_NET_RX, NEVER, NEVER, 0);
	irq_restore(flags);
}

static i64 await_answer(void)
{
	bool over;

	for (;;) {
		wait_prepare(&answered);
		over = READ_ONCE(link.handled) == FRAMES;
		if (over || signal_pending())
			break;
		schedule();
	}
	wait_finish(&answered);
	return over ? 0 : -EINTR;
}

i64 lab_round_trip(u64 argument)
{
	struct lab_round_trip trip;
	i64 result;

	if (!link.there)
		return -ENODEV;
	if (copy_from_user(&trip, argument, sizeof(trip)))
		return -EFAULT;
	if (!valid(&trip))
		return -EINVAL;
	if (__atomic_exchange_n(&link.busy, true, __ATOMIC_ACQUIRE))
		return -EBUSY;
	send(&trip);
	result = await_answer();
	stop_repeating();
	if (result)
		link.comes[0] = link.comes[1] = NEVER;
	__atomic_store_n(&link.busy, false, __ATOMIC_RELEASE);
	return result;
}

void link_init(void)
{
	link.there = !virtio_net_has_card();
	link.comes[0] = link.comes[1] = NEVER;
	if (link.there)
		open_softirq(LAB_NET_RX, receive);
}
