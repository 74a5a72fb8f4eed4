/* splitmix64: Steele et al., "Fast splittable pseudorandom number generators", OOPSLA 2014. */
#include "random.h"

#include "lock.h"

#define GAMMA 0x9e3779b97f4a7c15ul

static struct spinlock lock; /* irqsave */
static u64 state;

static u64 scramble(u64 bits)
{
	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ul;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebul;
	return bits ^ bits >> 31;
}

u64 random_next(void)
{
	u64 flags = spin_lock_irqsave(&lock), bits = state += GAMMA;

	spin_unlock_irqrestore(&lock, flags);
	return scramble(bits);
}

void random_mix(u64 bits)
{
	u64 flags = spin_lock_irqsave(&lock);

	state = scramble(state ^ bits) + GAMMA;
	spin_unlock_irqrestore(&lock, flags);
}
