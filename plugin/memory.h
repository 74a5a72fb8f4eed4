/*
 * The guest's memory as a plugin can read it: no version of QEMU's plugin API that we support has
 * a function for that before version 4.
 *
 * The guest's RAM is one piece of QEMU's own memory, from physical address 0 on (microvm has all
 * of it below 3 GiB). Of an instruction QEMU tells where its bytes are in its own memory; the
 * kernel's text lies at a known distance from its physical addresses (Linux
 * Documentation/arch/x86/x86_64/mm.rst: the kernel text mapping, from physical address 0 on;
 * without address randomisation, which we switch off). So one kernel instruction shows where RAM
 * begins. What is read there is checked against what QEMU says that the instruction is.
 */
#ifndef PLUGIN_MEMORY_H
#define PLUGIN_MEMORY_H

#include "common.h"

#define KERNEL_TEXT 0xffffffff80000000u	/* __START_KERNEL_map */

static struct {
	const uint8_t *start;	/* NULL until it is known */
	uint64_t size;		/* bytes; from the host */
} ram;

/* Finds RAM by an instruction of the kernel's text. */
static void find_ram(const struct qemu_plugin_insn *insn)
{
	uint64_t physical = qemu_plugin_insn_vaddr(insn) - KERNEL_TEXT;
	const uint8_t *host = qemu_plugin_insn_haddr(insn);
	uint8_t bytes[MAX_LENGTH];
	size_t length = bytes_of(insn, bytes);

	if (ram.start || !host || physical >= ram.size || ram.size - physical < length)
		return;
	if (!memcmp(host, bytes, length))
		ram.start = host - physical;
}

/*
 * Where the guest's memory at the place of this access is in ours, from a memory callback; NULL if
 * it is no RAM, or its `length` bytes would leave RAM or the page.
 */
static const uint8_t *accessed(uint32_t info, uint64_t address, uint64_t length)
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

#endif
