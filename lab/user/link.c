/*
 * The modelled link: what a request costs, whatever the variant of `softirq` does with an answer
 * that comes while softirqs run; and requests that get none.
 */
#include "../uapi/lab.h"
#include "tests.h"

#define TICK 4000000ul /* TSC, at 1 GHz and 250 Hz */
#define LATE 2000      /* longer than any variant that checks */
#define LINK_FIRST 60000
#define LINK_WORK 8000

struct bounds { uint64_t least, most; };

static long round_trip(uint64_t first, uint64_t second, uint64_t work)
{
	struct lab_round_trip trip = { first, second, work };

	return sys(SYS_LAB, LAB_ROUND_TRIP, &trip);
}

/* What round trips cost beyond the link's time. */
static struct bounds trips(uint64_t second)
{
	struct bounds bounds = { ~0ul, 0 };

	for (unsigned i = 0; i < 8; i++) {
		uint64_t begin = stamp(), beyond;

		expect_equal(round_trip(LINK_FIRST, second, LINK_WORK), 0);
		beyond = stamp() - begin - LINK_FIRST - second;
		bounds.least = beyond < bounds.least ? beyond : bounds.least;
		bounds.most = beyond > bounds.most ? beyond : bounds.most;
	}
	return bounds;
}

/* An answer that comes while the acknowledgement is handled raises what runs. */
static void answers_come_back(void)
{
	int off = variant_is("idle-check=off"), once = variant_is("softirq=irq-once") && off;
	int never = variant_is("tick-check=off");
	int fixed = !off && !variant_is("softirq=thread");
	struct bounds apart, together;

	expect_equal(pin(0), 0);
	apart = trips(3 * LINK_WORK);
	together = trips(LINK_WORK / 2);
	if (!option("test.exact", 0))
		return;
	print("      round trips but for the link: %lu to %lu; handled together: %lu to %lu\n",
	      apart.least, apart.most, together.least, together.most);
	expect(apart.least > LINK_WORK);
	expect(apart.most < LINK_WORK + TICK / 100);
	/* The first waits for the tick; the others begin at one. */
	if (once && !never)
		expect(together.most > TICK / 2 && together.most < TICK + LATE);
	if (once && never)
		expect(together.least > 49 * TICK && together.most < 51 * TICK);
	if (fixed)
		expect(together.most < 2 * LINK_WORK + TICK / 100);
}

static void a_request_that_gets_no_answer_can_be_killed(void)
{
	uint64_t ten_ms[2] = { 0, 10000000 };
	long child;

	expect_equal(round_trip(1ul << 40, 0, 0), -EINVAL);
	expect_equal(round_trip(0, 1ul << 40, 0), -EINVAL);
	expect_equal(round_trip(0, 0, (1ul << 20) + 1), -EINVAL);
	expect_equal(sys(SYS_LAB, LAB_ROUND_TRIP, 8), -EFAULT);
	child = sys(SYS_fork);
	if (child == 0) {
		pin(0);
		quit(round_trip((1ul << 40) - 1, 0, 0) != 0);
	}
	sys(SYS_nanosleep, ten_ms, NULL);
	expect_equal(round_trip(1000, 1000, 0), -EBUSY);
	expect_equal(sys(SYS_kill, child, SIGKILL), 0);
	expect(killed(wait_for(child), SIGKILL));
	expect_equal(round_trip(1000, 1000, 0), 0);
}

const struct test link_tests[] = {
	{ "link.round-trip", answers_come_back },
	{ "link.killed", a_request_that_gets_no_answer_can_be_killed },
	{ 0 },
};
