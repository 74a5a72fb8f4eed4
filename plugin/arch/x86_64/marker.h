/*
 * The probes' markers as instructions: a nopl disp32(%rax,%rax,1), which nothing else uses with
 * these displacements (crates/probes/src/clock.rs, include/pathmeter.h).
 */
#ifndef PLUGIN_X86_64_MARKER_H
#define PLUGIN_X86_64_MARKER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arch/x86_64/instruction.h"
#include "common/marker.h"

static inline enum marker marker_of(const struct instruction *instruction)
{
	static const uint8_t CODE[] = { 0x0f, 0x1f, 0x84, 0x00 };
	enum { LENGTH = 8, MAGIC = 0x504d };
	uint32_t value;

	if (instruction->length != LENGTH || memcmp(instruction->bytes, CODE, sizeof(CODE)))
		return NO_MARKER;
	memcpy(&value, instruction->bytes + sizeof(CODE), sizeof(value));
	if (value >> 16 != MAGIC || (value >> 8 & 0xff) >= MARKERS)
		return NO_MARKER;
	return value >> 8 & 0xff;
}

/* Of the name that comes after a region's marker: testb $0 with an operand in memory. */
static inline bool is_load_of_name(const struct instruction *instruction)
{
	const uint8_t *opcode =
		instruction->bytes + prefixes(instruction->bytes, instruction->length);
	const uint8_t *last = instruction->bytes + instruction->length - 1;

	return *opcode == 0xf6 && opcode + 2 <= last && (opcode[1] >> 3 & 7) == 0 &&
	       opcode[1] >> 6 != 3 && *last == 0;
}

#endif
