/*
 * What pushf and popf cost: the program of the 2006 thread (Linus Torvalds, linux-kernel,
 * 2006-11-05), in our own words for today's compilers. Three readings: nothing between two stamps,
 * pushf, popf.
 *
 * The shortest of many, in ticks of the time-stamp counter. An instruction-counting QEMU counts one
 * for each; a real CPU tells them apart. Runs on Linux too.
 */
#include "lib.h"

#define ROUNDS 1000

#define SHORTEST(...)                                                                              \
	({                                                                                         \
		uint64_t shortest = ~0ull;                                                         \
		for (int round = 0; round < ROUNDS; round++) {                                     \
			uint64_t begin = stamp(), end;                                             \
			__VA_ARGS__;                                                               \
			end = stamp();                                                             \
			if (end - begin < shortest)                                                \
				shortest = end - begin;                                            \
		}                                                                                  \
		(unsigned long)shortest;                                                           \
	})

int main(int argc, char **argv, char **envp)
{
	unsigned long flags;

	(void)argc, (void)argv, (void)envp;
	print("nothing: %lu\n", SHORTEST());
	print("pushf:   %lu\n",
	      SHORTEST(__asm__ volatile("pushf; pop %0" : "=r"(flags)::"memory")));
	__asm__ volatile("pushf; pop %0" : "=r"(flags)::"memory");
	print("popf:    %lu\n",
	      SHORTEST(__asm__ volatile("push %0; popf" ::"r"(flags) : "memory", "cc")));
	return 0;
}
