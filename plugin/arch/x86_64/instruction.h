/*
 * An instruction of x86-64: its bytes, where control may go after it, what it accesses, and whether
 * it can fault. Everything else that instructions are is decided by the host.
 *
 * Source: Intel SDM volume 2, the instructions' pages and appendix A, the opcode maps.
 */
#ifndef PLUGIN_X86_64_INSTRUCTION_H
#define PLUGIN_X86_64_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/kinds.h"

#define TARGET "x86_64"		/* QEMU's name of the architecture */

enum { MAX_LENGTH = 15 };	/* of an instruction */

struct instruction {
	uint8_t length;
	uint8_t bytes[MAX_LENGTH];
};

/* Whether it begins with these bytes, a string. */
#define HAS(instruction, bytes) has_bytes(instruction, bytes, sizeof(bytes) - 1)

static inline bool has_bytes(const struct instruction *instruction, const char *bytes,
			     size_t length)
{
	return instruction->length >= length && !memcmp(instruction->bytes, bytes, length);
}

/*
 * Whether QEMU may have taken the instruction at this address, at the end of a block, back: one
 * that goes on in another page begins a block of its own, and is announced to plugins in both
 * (target/i386/tcg/translate.c, i386_tr_translate_insn). So nothing may be counted with it.
 */
static inline bool may_be_taken_back(uint64_t address)
{
	return (address & 4095) + MAX_LENGTH > 4096;
}

/* Bytes before the opcode. A single byte 0x40 to 0x4f is an instruction of 32-bit code. */
static inline size_t prefixes(const uint8_t *bytes, size_t length)
{
	static const uint8_t LEGACY[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3,
	};
	size_t count = 0;

	while (count + 1 < length &&
	       (memchr(LEGACY, bytes[count], sizeof(LEGACY)) || bytes[count] >> 4 == 4))
		count++;
	return count;
}

/* Whether it repeats; `opcode` is what follows the prefixes. Intel SDM volume 2, "REP". */
static inline bool repeats(const uint8_t *bytes, const uint8_t *opcode)
{
	bool string = (*opcode & 0xfc) == 0xa4 || (*opcode >= 0xaa && *opcode <= 0xaf) ||
		      (*opcode & 0xfc) == 0x6c;

	return string &&
	       (memchr(bytes, 0xf2, opcode - bytes) || memchr(bytes, 0xf3, opcode - bytes));
}

/* Intel SDM volume 2, appendix A: the opcodes that transfer control. */
static inline enum ending ending_of(const struct instruction *last)
{
	const uint8_t *bytes = last->bytes;
	const uint8_t *opcode = bytes + prefixes(bytes, last->length);
	size_t left = last->length - (opcode - bytes);
	uint8_t second = left > 1 ? opcode[1] : 0;

	if (repeats(bytes, opcode))
		return REPEAT;
	switch (*opcode) {
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3: case 0xe9: case 0xeb:
		return JUMP;
	case 0xe8:
		return CALL;
	case 0xcf:
		return INTERRUPT_RETURN;
	case 0xcc: case 0xcd:
		return GATE;
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xea: case 0x9a:
		return ANYWHERE;
	case 0xff:
		if ((second >> 3 & 7) == 2 || (second >> 3 & 7) == 3)
			return CALL_ANYWHERE;
		return (second >> 3 & 7) == 4 || (second >> 3 & 7) == 5 ? ANYWHERE : NEXT;
	case 0x0f:
		if (second >> 4 == 8)
			return JUMP;
		/* syscall, sysret, sysenter, sysexit */
		return second == 0x05 || second == 0x07 || second == 0x34 || second == 0x35 ?
			GATE : NEXT;
	default:
		return NEXT;
	}
}

static inline bool is_call(const struct instruction *instruction)
{
	enum ending ending = ending_of(instruction);

	return ending == CALL || ending == CALL_ANYWHERE;
}

/* Whether it calls the instruction after it: it only asks where it is, and return stacks leave it
 * out. */
static inline bool calls_next(const struct instruction *instruction)
{
	static const uint8_t CALL_NEXT[5] = { 0xe8 };

	return instruction->length == sizeof(CALL_NEXT) &&
	       !memcmp(instruction->bytes, CALL_NEXT, sizeof(CALL_NEXT));
}

static inline bool is_return(const struct instruction *instruction)
{
	uint8_t opcode = instruction->bytes[prefixes(instruction->bytes, instruction->length)];

	return opcode == 0xc3 || opcode == 0xc2;
}

/* Whether it jumps always, to target_of() it. */
static inline bool is_jump(const struct instruction *instruction)
{
	uint8_t opcode = instruction->bytes[prefixes(instruction->bytes, instruction->length)];

	return opcode == 0xe9 || opcode == 0xeb;
}

/* Whether it is a plain `mov`: one that accesses memory does so once. Intel SDM volume 2, "MOV". */
static inline bool is_mov(const struct instruction *instruction)
{
	size_t before = prefixes(instruction->bytes, instruction->length);

	switch (instruction->bytes[before]) {
	case 0x88 ... 0x8b: case 0xa0 ... 0xa3: case 0xc6: case 0xc7:
		return true;
	}
	return false;
}

/* Of a direct jump or call: its displacement stands at its end, in one byte or in four. */
static inline uint64_t target_of(const struct instruction *last, uint64_t end)
{
	const uint8_t *opcode = last->bytes + prefixes(last->bytes, last->length);
	bool near = *opcode == 0xe8 || *opcode == 0xe9 || *opcode == 0x0f;
	size_t width = near ? 4 : 1;
	int32_t displacement;

	if (last->length < width)
		return end;
	if (!near)
		return end + (int64_t)(int8_t)last->bytes[last->length - 1];
	memcpy(&displacement, last->bytes + last->length - 4, 4);
	return end + (int64_t)displacement;
}

static inline bool is_stamp(const struct instruction *last)
{
	return last->length == 2 && last->bytes[0] == 0x0f && last->bytes[1] == 0x31;
}

/* Bytes that a string instruction moves at a time; REX.W and 0x66 choose among 2, 4 and 8. */
static inline uint64_t element_of(const struct instruction *instruction)
{
	const uint8_t *opcode =
		instruction->bytes + prefixes(instruction->bytes, instruction->length);
	size_t before = opcode - instruction->bytes;

	if (!(*opcode & 1))
		return 1;
	if (before && opcode[-1] >> 4 == 4 && opcode[-1] & 8)
		return 8;
	return memchr(instruction->bytes, 0x66, before) ? 2 : 4;
}

/* Whether it is cmps or scas, which may end before its count does. */
static inline bool compares_strings(const struct instruction *instruction)
{
	uint8_t opcode =
		instruction->bytes[prefixes(instruction->bytes, instruction->length)] & 0xfe;

	return opcode == 0xa6 || opcode == 0xae;
}

/*
 * Whether it is one of the common instructions on registers that can neither fault nor end a block:
 * when it was begun, it will be executed. Intel SDM volume 2, the instructions' pages.
 */
static inline bool is_safe(const struct instruction *instruction)
{
	const uint8_t *opcode =
		instruction->bytes + prefixes(instruction->bytes, instruction->length);
	size_t left = instruction->length - (opcode - instruction->bytes);
	uint8_t modrm = left > 1 ? opcode[1] : 0;
	bool registers = left > 1 && modrm >> 6 == 3;
	uint8_t extension = modrm >> 3 & 7;

	if (memchr(instruction->bytes, 0xf0, opcode - instruction->bytes))
		return false;
	switch (*opcode) {
	/* add, or, adc, sbb, and, sub, xor, cmp: to and from a register, then of an immediate */
	case 0x00 ... 0x03: case 0x08 ... 0x0b: case 0x10 ... 0x13: case 0x18 ... 0x1b:
	case 0x20 ... 0x23: case 0x28 ... 0x2b: case 0x30 ... 0x33: case 0x38 ... 0x3b:
	case 0x80: case 0x81: case 0x83:
	/* movslq or movsxd, test, mov, shifts */
	case 0x63: case 0x84: case 0x85: case 0x88 ... 0x8b:
	case 0xc0: case 0xc1: case 0xd0 ... 0xd3:
		return registers;
	case 0x04: case 0x05: case 0x0c: case 0x0d: case 0x24: case 0x25: case 0x2c: case 0x2d:
	case 0x34: case 0x35: case 0x3c: case 0x3d: case 0xa8: case 0xa9:
	/* lea, nop, cbw and its kin, mov of an immediate */
	case 0x8d: case 0x90: case 0x98: case 0x99: case 0xb0 ... 0xbf:
		return true;
	case 0xc6: case 0xc7:	/* mov of an immediate; with another extension, others */
		return registers && extension == 0;
	case 0xf6: case 0xf7:	/* test, not, neg, mul, imul; div may fault */
		return registers && extension < 6;
	case 0xfe: case 0xff:	/* inc, dec; the others transfer control, or push */
		return registers && extension < 2;
	case 0x0f:
		break;
	default:
		return false;
	}
	registers = left > 2 && opcode[2] >> 6 == 3;
	switch (modrm) {
	case 0x40 ... 0x4f: case 0x90 ... 0x9f:	/* cmov, set */
	case 0xaf: case 0xb6: case 0xb7: case 0xbe: case 0xbf:	/* imul, movzx, movsx */
		return registers;
	case 0x1f: case 0xc8 ... 0xcf:	/* nop, bswap */
		return true;
	default:
		return false;
	}
}

/*
 * Whether it reads an operand in memory, changes it and writes it back, and accesses no other
 * place: a processor asks at once whether it may write there. Intel SDM volume 2, the instructions'
 * pages.
 */
static inline bool changes_memory(const struct instruction *instruction)
{
	const uint8_t *opcode =
		instruction->bytes + prefixes(instruction->bytes, instruction->length);
	size_t left = instruction->length - (opcode - instruction->bytes);
	bool wide = *opcode == 0x0f;
	uint8_t second = left > 1 ? opcode[1] : 0;
	uint8_t modrm = left > 1u + wide ? opcode[1 + wide] : 0xff;
	uint8_t extension = modrm >> 3 & 7;

	if (modrm >> 6 == 3)
		return false;
	switch (wide ? 0x0f00 | second : *opcode) {
	/* add, or, adc, sbb, and, sub, xor of a register; xchg; rotations and shifts */
	case 0x00: case 0x01: case 0x08: case 0x09: case 0x10: case 0x11: case 0x18: case 0x19:
	case 0x20: case 0x21: case 0x28: case 0x29: case 0x30: case 0x31:
	case 0x86: case 0x87: case 0xc0: case 0xc1: case 0xd0 ... 0xd3:
	/* bts, shld, shrd, cmpxchg, btr, btc, xadd */
	case 0x0fab: case 0x0fa4: case 0x0fa5: case 0x0fac: case 0x0fad: case 0x0fb0: case 0x0fb1:
	case 0x0fb3: case 0x0fbb: case 0x0fc0: case 0x0fc1:
		return true;
	case 0x80: case 0x81: case 0x83:	/* those of an immediate; not cmp */
		return extension < 7;
	case 0xf6: case 0xf7:	/* not, neg */
		return extension == 2 || extension == 3;
	case 0xfe: case 0xff:	/* inc, dec */
		return extension < 2;
	case 0x0fba:		/* bts, btr, btc of an immediate; not bt */
		return extension > 4;
	case 0x0fc7:		/* cmpxchg8b, cmpxchg16b */
		return extension == 1;
	default:
		return false;
	}
}

/* Whether it is one that raises a general protection fault in user mode, whatever its operands:
 * hlt, cli, sti, int, and those of system programming (Intel SDM volume 2, appendix A). */
static inline bool is_privileged(const struct instruction *instruction)
{
	const uint8_t *opcode =
		instruction->bytes + prefixes(instruction->bytes, instruction->length);
	size_t left = instruction->length - (opcode - instruction->bytes);

	switch (*opcode) {
	case 0xf4: case 0xfa: case 0xfb: case 0xcd:
		return true;
	case 0x0f:
		break;
	default:
		return false;
	}
	switch (left > 1 ? opcode[1] : 0) {
	case 0x00: case 0x01: case 0x06: case 0x08: case 0x09: case 0x20 ... 0x23:
	case 0x30: case 0x32:
		return true;
	default:
		return false;
	}
}

/* Intel SDM volume 2: movs and cmps access two places, stos and ins store, the others load. */
static inline enum string string_accesses(const struct instruction *instruction)
{
	const uint8_t *opcode =
		instruction->bytes + prefixes(instruction->bytes, instruction->length);

	if (!repeats(instruction->bytes, opcode))
		return PLAIN;
	switch (*opcode & 0xfe) {
	case 0xa4: case 0xaa: case 0x6c:
		return LAST_ACCESS_IS_STORE;
	case 0xa6:
		return LOADS_TWICE;
	default:
		return LAST_ACCESS_IS_LOAD;
	}
}

#endif
