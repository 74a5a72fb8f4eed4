/*
 * Softirqs: how long one waits that an interrupt raised, under each variant; that idle CPUs see it;
 * that none is lost or run twice; that too many become a thread's.
 *
 * Times are exact, and most is proved, only under the instruction-counting clock (`test.exact=1`).
 */
#include "../uapi/lab.h"
#include "tests.h"

#define TICK 4000000ul /* TSC, at 1 GHz and 250 Hz */
#define RECORDS 4096
#define LONG_GAP 40 /* two stamps of spin()'s are never as far apart, unless it was interrupted */
#define LATE 2000   /* longer than any variant that checks */
#define SLICE (5 * TICK)

static struct lab_softirq_record records[RECORDS];

/* ---- The device, the records. ---- */

static long arm_device(uint64_t delay, unsigned softirq, unsigned cpu, unsigned source,
		       unsigned again)
{
	struct lab_softirq_arm arm = { delay, softirq, cpu, source, again };

	return sys(SYS_LAB, LAB_SOFTIRQ_ARM, &arm);
}

static void sleep_ns(uint64_t ns)
{
	uint64_t time[2] = { 0, ns };

	sys(SYS_nanosleep, time, NULL);
}

/* What the rings hold into `records`, after the first `count`; their number. */
static unsigned take_more(unsigned count, uint64_t *lost)
{
	struct lab_softirq_take all = { (uint64_t)(records + count), RECORDS - count, 0, 0 };

	expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_TAKE, &all), 0);
	*lost += all.lost;
	return count + all.count;
}

static void forget(void)
{
	uint64_t lost = 0;

	while (take_more(0, &lost))
		;
}

/* The first of `softirq` among `count` records; NULL if there is none. */
static struct lab_softirq_record *find(unsigned softirq, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (records[i].softirq == softirq)
			return &records[i];
	return NULL;
}

static unsigned count_of(unsigned softirq, unsigned count)
{
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++)
		found += records[i].softirq == softirq;
	return found;
}

/* Sleeps until `softirq` has run `runs` times; the number of records. On a busy host interrupts may
 * be late. */
static unsigned await(unsigned softirq, unsigned runs)
{
	unsigned count = 0;
	uint64_t lost = 0, end = now_ns() + 5000000000;

	do {
		sleep_ns(100000);
		count = take_more(count, &lost);
	} while (count_of(softirq, count) < runs && now_ns() < end);
	expect_equal(lost, 0);
	expect_equal(count_of(softirq, count), runs);
	return count;
}

/* It is the default, without a word for it. */
static int variant_irq_exit(void)
{
	return !strstr(command_line(), "softirq=") || variant_is("softirq=irq-exit");
}

/* Softirqs that an interrupt raised over a program run before it goes on. */
static int variant_is_at_once(void)
{
	return variant_irq_exit() || variant_is("softirq=irq-return") ||
	       variant_is("softirq=irq-once");
}

/* ---- A program that only looks at the time, and so sees when it was interrupted. ---- */

static struct gap { uint64_t from, to; } gaps[64];

/* Fills `gaps`, the last one ended by zeroes. With `pause` a system call each so many ticks. */
static void spin(uint64_t duration, uint64_t pause)
{
	uint64_t last = stamp(), end = last + duration, call = last + pause;
	unsigned count = 0;

	while (last < end) {
		uint64_t now = stamp();

		if (now - last > LONG_GAP && count < 63)
			gaps[count++] = (struct gap){ last, now };
		if (pause && now > call) {
			sys(SYS_getppid);
			call = now = stamp();
			call += pause;
		}
		last = now;
	}
	gaps[count] = (struct gap){ 0, 0 };
}

/* The interruption in which `time` lies; NULL if the program ran then. */
static struct gap *gap_of(uint64_t time)
{
	for (struct gap *gap = gaps; gap->to; gap++)
		if (gap->from < time && time < gap->to)
			return gap;
	return NULL;
}

struct bounds { uint64_t least, most; };

static void widen(struct bounds *bounds, uint64_t value)
{
	if (value < bounds->least)
		bounds->least = value;
	if (value > bounds->most)
		bounds->most = value;
}

/* Arms NET_RX once, spins over it, and sleeps for a moment; what came of it. */
static struct lab_softirq_record once(uint64_t delay, uint64_t duration, uint64_t pause)
{
	struct lab_softirq_record *record;

	forget();
	expect_equal(arm_device(delay, LAB_NET_RX, 0, 0, 0), 0);
	spin(duration, pause);
	record = find(LAB_NET_RX, await(LAB_NET_RX, 1));
	expect(record->cpu == 0);
	expect(record->raised <= record->entered);
	return *record;
}

static void raised_in_user_mode(void)
{
	struct random random = { 7 };
	struct bounds bounds = { ~0ul, 0 };
	int at_once = variant_is_at_once();
	unsigned seen = 0;

	expect_equal(pin(0), 0);
	expect_equal(real_time(2), 0);
	for (unsigned i = 0; i < 12; i++) {
		uint64_t delay = 5000 + random_below(&random, TICK);
		struct lab_softirq_record record = once(delay, delay + TICK + 100000, 0);
		struct gap *gap = gap_of(record.raised);

		if (record.context != LAB_IN_USER)
			continue; /* the tick was there first */
		seen++;
		widen(&bounds, record.entered - record.raised);
		if (!option("test.exact", 0))
			continue;
		expect(gap != NULL);
		/* No instruction of the program's in between: or at least one. */
		expect_equal(gap_of(record.entered) == gap, at_once);
	}
	if (!seen && !option("test.exact", 0))
		return; /* on a busy host the device may come too late, in the sleep */
	print("      raise to entry, from a program without system calls: %lu to %lu\n",
	      bounds.least,
	      bounds.most);
	if (!option("test.exact", 0))
		return;
	expect(seen >= 10);
	if (variant_irq_exit())
		expect(bounds.most <= 60);
	if (variant_is("softirq=syscall-return"))
		expect(bounds.most > TICK / 2 && bounds.most < TICK + LATE);
	if (variant_is("softirq=thread"))
		expect(bounds.least > TICK);
}

/* As raised_in_user_mode, at 100 instructions of a loop that makes a system call all 5,000. */
static void raised_between_system_calls(void)
{
	struct bounds bounds = { ~0ul, 0 };

	if (!option("test.exact", 0))
		return;
	expect_equal(pin(0), 0);
	expect_equal(real_time(2), 0);
	for (unsigned i = 0; i < 100; i++) {
		struct lab_softirq_record record = once(20000 + i * 53, 40000, 5000);

		widen(&bounds, record.entered - record.raised);
	}
	print("      the same, with a system call each 5,000 instructions: %lu to %lu\n",
	      bounds.least,
	      bounds.most);
	if (variant_is("softirq=syscall-return"))
		expect(bounds.most > 4000 && bounds.most < 5000 + LATE);
	else if (!variant_is("softirq=thread"))
		expect(bounds.most < LATE);
}

/* Against a program as good as it the thread waits for its turn. */
static void raised_beside_an_ordinary_program(void)
{
	struct bounds bounds = { ~0ul, 0 };
	struct random random = { 9 };

	if (!option("test.exact", 0))
		return;
	expect_equal(pin(0), 0);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t delay = 5000 + random_below(&random, TICK);
		struct lab_softirq_record record = once(delay, delay + SLICE + 2 * TICK, 0);

		widen(&bounds, record.entered - record.raised);
	}
	print("      the same, without, in SCHED_OTHER: %lu to %lu\n", bounds.least, bounds.most);
	expect(bounds.most < (variant_is("softirq=thread") ? SLICE + LATE : TICK + LATE));
}

static void raised_in_a_system_call(void)
{
	struct lab_softirq_record *record;
	uint64_t before, after;

	expect_equal(pin(0), 0);
	forget();
	before = stamp();
	expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_RAISE, LAB_NET_TX), 0);
	after = stamp();
	record = find(LAB_NET_TX, await(LAB_NET_TX, 1));
	expect_equal(record->context, LAB_IN_KERNEL);
	expect(before < record->raised && record->raised < after);
	if (!variant_is("softirq=thread"))
		expect(record->entered < after);
}

/* ---- Idle. ---- */

enum {
	TRIES = 32,		/* of one instruction */
	STRETCH = 6,		/* the longest with interrupts off, in instructions */
};

/*
 * The device comes at each of many consecutive instructions, from the system call that puts the
 * only program to sleep until the CPU has been idle for long.
 */
static void idle_sees_it(void)
{
	/* Polling takes its time, so that no tick fits; then it is the end of the sleep that helps.
	 * */
	uint64_t sleep = variant_is("idle=poll") ? 50000 : 5000000, last = ~0ul >> 1, longest = 0,
		 dropped = 0;
	unsigned idle = 0, kernel = 0, lost = 0, skipped = 0, repeated = 0, odd;
	int needs_check = variant_is("softirq=syscall-return") || variant_is("softirq=irq-return");
	int blind = needs_check && variant_is("idle-check=off");
	int early = needs_check && variant_is("idle-check=early");

	if (!option("test.exact", 0))
		return;
	expect_equal(pin(0), 0);
	for (uint64_t delay = 100; delay < 1100; delay++) {
		struct lab_softirq_record *record;
		uint64_t armed, step;

		forget();
		armed = stamp();
		expect_equal(arm_device(delay, LAB_NET_RX, 0, 0, 0), 0);
		sleep_ns(sleep);
		record = find(LAB_NET_RX, take_more(0, &dropped));
		expect(record != NULL);
		if (record->context == LAB_IN_USER)
			continue;
		/* Each comes an instruction later than the last; or at the end of a stretch with
		 * interrupts off: in idle, after the switch to it, the longest is from `cli` to
		 * `hlt`. If the tick was in the way, or QEMU moved the idle CPU's clock too far, it
		 * comes again: on a busy host that race is lost now and then, sometimes twice in a
		 * row. An instruction at which it really can't come is missed each time. A race
		 * lost by less than a stretch goes unnoticed, so the next may come before the last.
		 */
		step = record->raised - armed;
		odd = idle > 1 && (step + STRETCH < last || step > last + STRETCH);
		if (odd && ++repeated < TRIES) {
			delay--;
			continue;
		}
		skipped += odd;
		repeated = 0;
		last = step;
		*(record->context == LAB_IN_KERNEL ? &kernel : &idle) += 1;
		if (record->entered - record->raised > longest)
			longest = record->entered - record->raised;
		lost += record->entered - record->raised > LATE;
	}
	print("      %u arrivals in the kernel, %u in idle, %u lost; the longest wait is %lu\n",
	      kernel,
	      idle, lost, longest);
	expect_equal(skipped, 0);
	expect_equal(dropped, 0);
	expect(idle > 300);
	if (blind)
		expect(lost <= idle && lost + 2 >= idle); /* a tick may follow one at once */
	else if (early)
		expect(lost > 0 && lost < 10); /* between the check and `cli` */
	else
		expect_equal(lost, 0);
}

/* ---- All of them, once. ---- */

static struct lab_softirq_counts counts_now(void)
{
	struct lab_softirq_counts counts;

	expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_COUNTS, &counts), 0);
	return counts;
}

static int at_rest(const struct lab_softirq_counts *counts, unsigned cpu_count)
{
	for (unsigned i = 0; i < cpu_count; i++)
		if (counts->cpu[i].runs != counts->cpu[i].epochs ||
		    counts->cpu[i].seen != counts->cpu[i].raised)
			return 0;
	return 1;
}

/* What is armed or pending still comes, sooner or later. One that was lost never does. */
static struct lab_softirq_counts counts_at_rest(unsigned cpu_count)
{
	struct lab_softirq_counts counts;
	uint64_t end = now_ns() + 5000000000;

	do {
		sleep_ns(50000000);
		counts = counts_now();
	} while (!at_rest(&counts, cpu_count) && now_ns() < end);
	return counts;
}

/* Raises TASKLET on `cpu`, where it runs, and on others, until it was raised `wanted`
 * times here. */
static void raise_many(unsigned cpu, unsigned cpu_count, uint64_t wanted)
{
	struct random random = { cpu + 1 };

	expect_equal(pin(cpu), 0);
	wanted += counts_now().cpu[cpu].raised;
	while (counts_now().cpu[cpu].raised < wanted) {
		for (unsigned i = 0; i < 64; i++) {
			uint64_t dice = random_next(&random) >> 32;
			uint64_t delay = random_below(&random, 3000);
			unsigned other = (unsigned)(dice >> 8) % cpu_count;

			if (dice % 64 == 63)
				sys(SYS_sched_yield); /* to the thread, if it waits */
			else if (dice % 8 == 0)
				expect_equal(arm_device(delay, LAB_TASKLET, cpu, 0, 0), 0);
			else if (dice % 8 == 1 && other != cpu)
				expect_equal(arm_device(delay, LAB_TASKLET, other, 1, 0), 0);
			else
				expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_RAISE, LAB_TASKLET), 0);
		}
	}
}

static void none_is_lost_or_run_twice(void)
{
	unsigned count = cpus() < 2 ? cpus() : 2;
	uint64_t wanted = (uint64_t)option("test.raises", 20000) / count, taken = 0, lost = 0;
	struct lab_softirq_counts before, after;
	uint64_t raised = 0, runs = 0;
	long children[2];

	forget();
	before = counts_now();
	for (unsigned i = 0; i < count; i++) {
		children[i] = sys(SYS_fork);
		if (children[i] == 0) {
			raise_many(i, count, wanted);
			quit(0);
		}
	}
	for (unsigned i = 0; i < count; i++)
		expect(exited(wait_for(children[i]), 0));
	after = counts_at_rest(count);
	for (unsigned some = take_more(0, &lost); some; some = take_more(0, &lost))
		taken += count_of(LAB_TASKLET, some);
	for (unsigned i = 0; i < count; i++) {
		expect(after.cpu[i].raised - before.cpu[i].raised >= wanted);
		expect_equal(after.cpu[i].runs, after.cpu[i].epochs);
		expect_equal(after.cpu[i].seen, after.cpu[i].raised);
		raised += after.cpu[i].raised - before.cpu[i].raised;
		runs += after.cpu[i].runs - before.cpu[i].runs;
	}
	/* Each run left a record, which was taken or lost; others were lost, too. */
	expect(taken <= runs && taken + lost >= runs);
	print("      %lu raises on %u CPUs, %lu merged, %lu runs\n", raised, count, raised - runs,
	      runs);
}

static void another_cpu_interrupts(void)
{
	unsigned other = cpus() - 1;
	struct lab_softirq_record *record;

	if (other == 0) {
		expect_equal(arm_device(1000, LAB_NET_RX, 0, 1, 0), -EINVAL);
		return;
	}
	expect_equal(pin(0), 0);
	for (unsigned source = 0; source < 2; source++) {
		forget();
		expect_equal(arm_device(1000, LAB_NET_RX, other, source, 0), 0);
		record = find(LAB_NET_RX, await(LAB_NET_RX, 1));
		expect_equal(record->cpu, other);
	}
}

/* ---- Too many. ---- */

static void the_thread_takes_what_is_too_much(void)
{
	unsigned count, together = 0;
	struct gap *gap;

	expect_equal(pin(0), 0);
	expect_equal(real_time(2), 0);
	forget();
	expect_equal(arm_device(5000, LAB_HI, 0, 0, 24), 0);
	spin(20000, 5000);
	count = await(LAB_HI, 25);
	gap = gap_of(find(LAB_HI, count)->entered);
	for (unsigned i = 0; i < count; i++)
		together += records[i].softirq == LAB_HI && gap &&
			    gap_of(records[i].entered) == gap;
	/* Before the interrupt returned, as many rounds as are allowed. */
	if (option("test.exact", 0) && variant_is_at_once())
		expect_equal(together, variant_is("softirq=irq-once") ? 1 : 10);
	if (option("test.exact", 0) && variant_is("softirq=thread"))
		expect_equal(together, 0);
}

static void a_flood_leaves_programs_their_turns(void)
{
	uint64_t longest = 0, interrupted = 0;

	if (!option("test.exact", 0))
		return;
	expect_equal(pin(0), 0);
	expect_equal(arm_device(5000, LAB_HI, 0, 0, 1500000), 0);
	spin(40 * TICK, 0);
	for (struct gap *gap = gaps; gap->to; gap++) {
		interrupted += gap->to - gap->from;
		if (gap->to - gap->from > longest)
			longest = gap->to - gap->from;
	}
	print("      of %lu the flood had %lu, at most %lu at once\n", 40 * TICK, interrupted,
	      longest);
	expect(interrupted > 2 * SLICE);
	expect(longest < SLICE + TICK);
	sleep_ns(200000000);
}

static void wrong_arguments_are_refused(void)
{
	struct lab_softirq_take all = { 1ul << 63, 10, 0, 0 };
	uint64_t lost = 0;

	expect_equal(arm_device(1000, LAB_SOFTIRQS, 0, 0, 0), -EINVAL);
	expect_equal(arm_device(1000, LAB_HI, cpus(), 0, 0), -EINVAL);
	expect_equal(arm_device(1000, LAB_HI, ~0u, 0, 0), -EINVAL);
	expect_equal(arm_device(1000, LAB_HI, 0, 2, 0), -EINVAL);
	expect_equal(arm_device(~0ul, LAB_HI, 0, 0, 0), -EINVAL);
	expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_ARM, 8), -EFAULT);
	expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_TAKE, 8), -EFAULT);
	expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_COUNTS, ~0ul), -EFAULT);
	expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_RAISE, LAB_SOFTIRQS), -EINVAL);
	expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_RAISE, ~0ul), -EINVAL);
	expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_RAISE, LAB_TIMER), 0);
	sleep_ns(10000000);
	expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_TAKE, &all), -EFAULT);
	expect(take_more(0, &lost) > 0);
}

const struct test softirq_tests[] = {
	{ "softirq.wrong-arguments", wrong_arguments_are_refused },
	{ "softirq.from-user", raised_in_user_mode },
	{ "softirq.between-system-calls", raised_between_system_calls },
	{ "softirq.beside-another", raised_beside_an_ordinary_program },
	{ "softirq.from-system-call", raised_in_a_system_call },
	{ "softirq.idle", idle_sees_it },
	{ "softirq.other-cpu", another_cpu_interrupts },
	{ "softirq.none-lost", none_is_lost_or_run_twice },
	{ "softirq.limit", the_thread_takes_what_is_too_much },
	{ "softirq.flood", a_flood_leaves_programs_their_turns },
	{ 0 },
};
