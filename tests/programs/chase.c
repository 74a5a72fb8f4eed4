/*
 * Follows a ring of a thousand nodes, each in a line of its own, twice: 2,000 visits of lines, and
 * no line that the kernel touches.
 */
#include <stdint.h>
#include <stdlib.h>

#include "pathmeter.h"

enum { NODES = 1000, ROUNDS = 2, STEP = 7 };	/* STEP and NODES have no common divisor */

struct node {
	struct node *next;
	char rest[64 - sizeof(struct node *)];
};

int main(void)
{
	struct node *nodes = aligned_alloc(64, NODES * sizeof(*nodes));
	struct node *volatile end;
	struct node *at = nodes;

	if (!nodes)
		return 1;
	for (size_t i = 0; i < NODES; i++)
		nodes[i].next = &nodes[(i + STEP) % NODES];
	pathmeter_begin("chase");
	for (size_t i = 0; i < NODES * ROUNDS; i++)
		at = at->next;
	pathmeter_end("chase");
	end = at;
	return end != nodes;
}
