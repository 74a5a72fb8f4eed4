/*
 * The guest's memory as a plugin can read it: no version of QEMU's plugin API that we support has
 * a function for that before version 4.
 *
 * The guest's RAM is one piece of QEMU's own memory, from physical address 0 on (microvm has all
 * of it below 3 GiB). Of an instruction QEMU tells where its bytes are in its own memory; the
 * kernel's text lies at a known distance from its physical addresses without address randomisation,
 * which we switch off (KERNEL_TEXT of the architecture). So one kernel instruction shows where RAM
 * begins. What is read there is checked against what QEMU says that the instruction is.
 */
#ifndef PLUGIN_RAM_H
#define PLUGIN_RAM_H

#include <stdint.h>

#include "common/linkage.h"
#include "common/qemu.h"

struct ram {
	const uint8_t *start;	/* NULL until it is known */
	uint64_t size;		/* bytes; from the host */
};
extern HIDDEN struct ram ram;

/* Finds RAM by an instruction of the kernel's text. */
void find_ram(const struct qemu_plugin_insn *insn);

/*
 * Where the guest's memory at the place of this access is in ours, from a memory callback; NULL if
 * it is no RAM, or its `length` bytes would leave RAM or the page.
 */
const uint8_t *accessed(uint32_t info, uint64_t address, uint64_t length);

#endif
