/*
 * Where RAM begins, and what an access accesses in it.
 */
#include "kernel/ram.h"

#include <stddef.h>
#include <string.h>

#include "arch/arch.h"
#include "common/api.h"
#include "common/qemu.h"

struct ram ram;

void find_ram(const struct qemu_plugin_insn *insn)
{
	uint64_t physical = qemu_plugin_insn_vaddr(insn) - KERNEL_TEXT;
	const uint8_t *host = qemu_plugin_insn_haddr(insn);
	const struct instruction instruction = instruction_of(insn);

	if (ram.start || !host || physical >= ram.size || ram.size - physical < instruction.length)
		return;
	if (!memcmp(host, instruction.bytes, instruction.length))
		ram.start = host - physical;
}

const uint8_t *accessed(uint32_t info, uint64_t address, uint64_t length)
{
	struct qemu_plugin_hwaddr *place = qemu_plugin_get_hwaddr(info, address);
	uint64_t physical;

	if (!ram.start || !place || qemu_plugin_hwaddr_is_io(place))
		return NULL;
	physical = qemu_plugin_hwaddr_phys_addr(place);
	if (physical >= ram.size || ram.size - physical < length ||
	    (physical & 4095) + length > 4096)
		return NULL;
	return ram.start + physical;
}
