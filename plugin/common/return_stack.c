/*
 * The return stack: a ring of addresses, and the returns to elsewhere that may turn out to have
 * been interrupted.
 */
#include "common/return_stack.h"

#include <stdbool.h>

#include "common/linkage.h"

enum { KEPT_RETURNS = 32, MOST_DOUBTFUL = 8 };

static struct {
	uint64_t ring[KEPT_RETURNS];
	unsigned int top, depth;	/* the newest one is before `top` */
	bool forgot;			/* an address was overwritten */
} return_stack;

/* Where the last mispredicted returns were expected to go. */
static struct {
	uint64_t expected;
	bool open;	/* no interrupt has explained it */
} doubtful[MOST_DOUBTFUL];
static unsigned int doubtful_count;

uint64_t mispredicted_returns;

void clear_return_stack(void)
{
	return_stack.depth = doubtful_count = 0;
	return_stack.forgot = false;
	mispredicted_returns = 0;
}

HOT void push_return(uint64_t next)
{
	return_stack.ring[return_stack.top++ % KEPT_RETURNS] = next;
	return_stack.forgot |= return_stack.depth == KEPT_RETURNS;
	return_stack.depth += return_stack.depth < KEPT_RETURNS;
}

static void doubt(uint64_t expected)
{
	unsigned int place = doubtful_count++ % MOST_DOUBTFUL;

	doubtful[place].expected = expected;
	doubtful[place].open = true;
}

HOT void pop_return(uint64_t address)
{
	uint64_t expected;

	if (return_stack.depth == 0) {
		mispredicted_returns += return_stack.forgot;
		return;
	}
	return_stack.depth--;
	expected = return_stack.ring[--return_stack.top % KEPT_RETURNS];
	if (expected == address)
		return;
	mispredicted_returns++;
	doubt(expected);
}

void forget_return(void)
{
	return_stack.top -= return_stack.depth > 0;
	return_stack.depth -= return_stack.depth > 0;
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
