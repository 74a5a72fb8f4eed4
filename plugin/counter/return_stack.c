/*
 * The return stack: a ring of addresses, and the returns to elsewhere that may turn out to have
 * been interrupted.
 */
#include "counter/return_stack.h"

#include <stdbool.h>

#include "common/linkage.h"

enum { DEPTH = 32, MOST_DOUBTFUL = 8 };

static uint64_t ring[DEPTH];
static unsigned int top, depth;		/* the newest one is before `top` */
static bool forgot;			/* an address was overwritten */

/* Where the last mispredicted returns were expected to go. */
static struct {
	uint64_t expected;
	bool open;	/* no interrupt has explained it */
} doubtful[MOST_DOUBTFUL];
static unsigned int doubtful_count;

uint64_t mispredicted_returns;

void clear_return_stack(void)
{
	depth = doubtful_count = 0;
	forgot = false;
	mispredicted_returns = 0;
}

HOT void push_return(uint64_t next)
{
	ring[top++ % DEPTH] = next;
	forgot |= depth == DEPTH;
	depth += depth < DEPTH;
}

static void doubt(uint64_t expected)
{
	unsigned int place = doubtful_count++ % MOST_DOUBTFUL;

	doubtful[place].expected = expected;
	doubtful[place].open = true;
}

HOT void pop_return(uint64_t address)
{
	if (depth == 0) {
		mispredicted_returns += forgot;
		return;
	}
	depth--;
	if (ring[--top % DEPTH] == address)
		return;
	mispredicted_returns++;
	doubt(ring[top % DEPTH]);
}

void resume_at(uint64_t address)
{
	unsigned int kept = doubtful_count < MOST_DOUBTFUL ? doubtful_count : MOST_DOUBTFUL;

	for (unsigned int i = 0; i < kept; i++) {
		if (!doubtful[i].open || doubtful[i].expected != address)
			continue;
		doubtful[i].open = false;
		mispredicted_returns--;
		return;
	}
}
