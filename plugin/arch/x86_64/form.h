/*
 * An instruction's form: its opcode, and what else decides which events it is, as the table of
 * classes has it (program/classes.h).
 */
#ifndef PLUGIN_X86_64_FORM_H
#define PLUGIN_X86_64_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86_64/instruction.h"

enum { FORMS = 2048 };		/* of an opcode */
/* Maps of opcodes: one byte; 0x0f; 0x0f 0x38; 0x0f 0x3a; and the last three with a VEX prefix. */
enum { VEX_MAPS = 3, CLASS_MAPS = 7 };

struct form {
	unsigned int map;	/* CLASS_MAPS if the instruction was not understood */
	uint8_t opcode;
	uint16_t number;	/* among the FORMS: the prefix, the operand's size, the next byte */
	bool locked;		/* by a `lock` prefix */
};

struct form form_of(const struct instruction *instruction);

#endif
