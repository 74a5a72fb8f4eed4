/*
 * The table of spots, by hash.
 */
#include "kernel/spot_table.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "common/api.h"
#include "common/qemu.h"
#include "kernel/spot.h"

struct known_spot {
	struct spot spot;
	struct known_spot *next;	/* in its bucket */
};

enum { SPOT_BUCKETS = 1 << 16 };
static struct known_spot *spots[SPOT_BUCKETS];

/* The spot's entry, made when it is new. Lives as long as QEMU. */
static struct spot *intern_spot(struct spot like)
{
	struct known_spot **bucket = &spots[(like.first * 0x9e3779b97f4a7c15u) >> 48];
	struct known_spot *known;

	for (known = *bucket; known; known = known->next)
		if (!memcmp(&known->spot, &like, sizeof(like)))
			return &known->spot;
	known = calloc(1, sizeof(*known));
	if (!known)
		abort();
	known->spot = like;
	known->next = *bucket;
	*bucket = known;
	return &known->spot;
}

struct spot *spot_between(struct qemu_plugin_tb *tb, size_t first, size_t end)
{
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, end - 1);
	const struct instruction code = instruction_of(last);

	return intern_spot(spot_of(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, first)),
				   qemu_plugin_insn_vaddr(last), &code));
}
