/*
 * A spot, from a block's instructions.
 */
#include "kernel/spot.h"

#include <string.h>

#include "arch/arch.h"
#include "common/qemu.h"
#include "kernel/points.h"

struct spot spot_of(uint64_t first, uint64_t last_address, const struct instruction *last)
{
	enum ending ending = ending_of(last);
	struct spot spot;

	memset(&spot, 0, sizeof(spot));	/* with its padding: spots are compared as bytes */
	spot.first = first;
	spot.last = last_address;
	spot.call = ending == CALL || ending == CALL_ANYWHERE;
	spot.gate = ending == GATE;
	spot.interrupt_return = ending == INTERRUPT_RETURN;
	spot.interrupt_entry = is_entry(first);
	spot.ret = is_return(last);
	spot.halt = is_halt(last);
	spot.idle = spot.halt || is_idle(first);
	spot.point = first_point(first);
	while (spot.point + spot.points < point_count &&
	       points[spot.point + spot.points].address == first)
		spot.points++;
	return spot;
}

size_t up_to_point(struct qemu_plugin_tb *tb, size_t first)
{
	size_t count = qemu_plugin_tb_n_insns(tb), next = first + 1;

	if (!point_count)
		return count;
	while (next < count && !is_point(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, next))))
		next++;
	return next;
}
