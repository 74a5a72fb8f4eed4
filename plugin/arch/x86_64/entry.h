/*
 * The kernel on x86-64: its addresses, and the instructions by which it is entered and left, goes
 * from task to task and waits.
 *
 * Sources: Intel SDM volume 2, the instructions' pages; volume 3, 4.7 (a page fault's error code).
 */
#ifndef PLUGIN_X86_64_ENTRY_H
#define PLUGIN_X86_64_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86_64/instruction.h"

/* The kernel text mapping, from physical address 0 on, without address randomisation: Linux
 * Documentation/arch/x86/x86_64/mm.rst, __START_KERNEL_map. */
#define KERNEL_TEXT 0xffffffff80000000u

static inline uint64_t is_kernel(uint64_t address)
{
	return address >> 63;
}

/* iret, sysret and sysexit. */
static inline bool leaves_kernel(const struct instruction *instruction)
{
	return HAS(instruction, "\x48\xcf") || HAS(instruction, "\xcf") ||
	       HAS(instruction, "\x48\x0f\x07") || HAS(instruction, "\x0f\x07") ||
	       HAS(instruction, "\x48\x0f\x35") || HAS(instruction, "\x0f\x35");
}

/* Whether it is the first of an entry of the table: endbr64 where there are such, or else the push
 * of the vector (Linux arch/x86/include/asm/idtentry.h, irq_entries_start). */
static inline bool begins_table_entry(const struct instruction *instruction, uint64_t address)
{
	return address % 8 == 0 &&
	       (HAS(instruction, "\xf3\x0f\x1e\xfa") || HAS(instruction, "\x6a") ||
		HAS(instruction, "\x68"));
}

/* Bits of a page fault's error code. */
enum { WRITE_ERROR = 1 << 1, FETCH_ERROR = 1 << 4, KNOWN_ERRORS = 0x1f };

/* Behind the error code in struct pt_regs is the address of the instruction that faulted. */
enum { FAULT_ADDRESS = 8, FAULT_END = 16 };

/* Whether it loads a page fault's error code: mov 0x78(%rsp),%rsi, ORIG_RAX of struct pt_regs. */
static inline bool loads_error_code(const struct instruction *instruction)
{
	return HAS(instruction, "\x48\x8b\x74\x24\x78");
}

/* Whether it loads the next task's stack pointer: mov disp(%rsi),%rsp. */
static inline bool loads_stack(const struct instruction *instruction)
{
	return HAS(instruction, "\x48\x8b\xa6") || HAS(instruction, "\x48\x8b\x66");
}

/* Of such an instruction: the displacement, where in a task's record its stack pointer is kept. */
static inline uintptr_t stack_offset(const struct instruction *instruction)
{
	uint32_t wide;

	if (instruction->bytes[2] == 0x66)
		return instruction->bytes[3];
	memcpy(&wide, instruction->bytes + 3, sizeof(wide));
	return wide;
}

static inline bool is_halt(const struct instruction *instruction)
{
	return instruction->bytes[prefixes(instruction->bytes, instruction->length)] == 0xf4;
}

/* Whether the CPU waits for an interrupt with it: hlt, mwait. */
static inline bool idles(const struct instruction *instruction)
{
	return is_halt(instruction) || HAS(instruction, "\x0f\x01\xc9");
}

#endif
