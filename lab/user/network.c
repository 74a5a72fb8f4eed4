/*
 * `test.serve=N`: keeps the machine up while its kernel answers the network, until N answers are
 * sent; then tells what came, and where the softirq's raises interrupted. For the first half it
 * sleeps, so the CPU idles; for the second it spins.
 */
#include "network.h"
#include "../uapi/lab.h"
#include "tests.h"

#define RECORDS 256
#define SPINS 100000

static struct {
	uint64_t from[3]; /* LAB_IN_* */
	uint64_t lost, least, most; /* TSC ticks from raise to entry */
} runs = { .least = ~0ull };

static void take_runs(void)
{
	static struct lab_softirq_record records[RECORDS];
	struct lab_softirq_take take = { .records = (uint64_t)records, .capacity = RECORDS };

	do {
		expect_equal(sys(SYS_LAB, LAB_SOFTIRQ_TAKE, &take), 0);
		runs.lost += take.lost;
		for (unsigned i = 0; i < take.count; i++) {
			uint64_t waited = records[i].entered - records[i].raised;

			if (records[i].softirq != LAB_NET_RX)
				continue;
			expect(records[i].context <= LAB_IN_IDLE);
			runs.from[records[i].context]++;
			runs.least = waited < runs.least ? waited : runs.least;
			runs.most = waited > runs.most ? waited : runs.most;
		}
	} while (take.count == RECORDS);
}

static void pass_time(int idle)
{
	struct { uint64_t seconds, ns; } millisecond = { 0, 1000000 };

	if (idle)
		sys(SYS_nanosleep, &millisecond, NULL);
	else
		for (volatile unsigned spins = SPINS; spins; spins--)
			;
}

void serve(uint64_t answers)
{
	struct lab_network seen = { 0 };

	expect_equal(pin(0), 0); /* which the card interrupts */
	print("network: serving %lu answers\n", answers);
	while (seen.sent < answers) {
		pass_time(seen.sent < answers / 2);
		take_runs();
		expect_equal(sys(SYS_LAB, LAB_NETWORK, &seen), 0);
	}
	take_runs();
	print("network: NET_RX ran %lu times; raised in idle %lu, in user mode %lu, in the kernel "
	      "%lu; %lu records lost; %lu to %lu ticks from raise to entry\n",
	      runs.from[0] + runs.from[1] + runs.from[2], runs.from[LAB_IN_IDLE],
	      runs.from[LAB_IN_USER], runs.from[LAB_IN_KERNEL], runs.lost, runs.least, runs.most);
	/* One a frame at most: more, and a line was not let go of. None for what was sent. */
	expect(seen.interrupts > 0 && seen.interrupts <= seen.arp_answers + seen.echoes +
	       seen.malformed + seen.ignored + seen.no_room);
	expect(runs.from[LAB_IN_IDLE] > 0);
	/* With parallel CPUs the next packet may always come while the softirq still runs. */
	expect(runs.from[LAB_IN_USER] > 0 || !option("test.exact", 0));
	print("network: answered %lu ARP, %lu UDP; not %lu malformed, %lu ignored, "
	      "%lu without room\n",
	      seen.arp_answers, seen.echoes, seen.malformed, seen.ignored, seen.no_room);
}
