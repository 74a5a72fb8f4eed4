/*
 * Functions of the program's that are regions: from their first instruction to the return to who
 * called them. Programs written for Callgrind's --toggle-collect are measured so.
 *
 * A program is placed anywhere, so a function is known by its bytes and where in a page they begin.
 * Its end is the return that takes the address which the call stored.
 */
#ifndef PLUGIN_FUNCTIONS_H
#define PLUGIN_FUNCTIONS_H

#include "regions.h"
#include "x86.h"

enum { MOST_FUNCTIONS = 64, KNOWN_BYTES = 32 };

static struct function {
	uint64_t in_page;	/* where it begins */
	size_t length;		/* bytes that are known of it */
	uint8_t bytes[KNOWN_BYTES];
	char name[LONGEST_NAME + 1];
} functions[MOST_FUNCTIONS];
static size_t function_count;

/* Reads `OFFSET BYTES NAME`, hexadecimal, from the table of places; false if that is none. */
static bool read_function(FILE *file)
{
	struct function *function = &functions[function_count];
	char digits[2 * KNOWN_BYTES + 1];
	unsigned long long in_page;
	unsigned int byte;

	if (function_count == MOST_FUNCTIONS ||
	    fscanf(file, " %llx %64s %127s", &in_page, digits, function->name) != 3)
		return false;
	function->in_page = in_page;
	while (sscanf(digits + 2 * function->length, "%2x", &byte) == 1)
		function->bytes[function->length++] = byte;
	function_count++;
	return function->length > 0;
}

/* The function that begins with this block, as far as the block goes; NULL if none does. */
static const struct function *function_at(struct qemu_plugin_tb *tb, uint64_t start)
{
	uint8_t bytes[KNOWN_BYTES + MAX_LENGTH];
	size_t length = 0;

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb) && length < KNOWN_BYTES; i++)
		length += bytes_of(qemu_plugin_tb_get_insn(tb, i), bytes + length);
	for (size_t i = 0; i < function_count; i++) {
		const struct function *function = &functions[i];
		size_t same = length < function->length ? length : function->length;

		if (function->in_page == (start & 4095) && !memcmp(function->bytes, bytes, same))
			return function;
	}
	return NULL;
}

static bool is_call(const struct instruction *instruction)
{
	enum ending ending = ending_of(instruction);

	return ending == CALL || ending == CALL_ANYWHERE;
}

static bool is_return(const struct instruction *instruction)
{
	const uint8_t *opcode =
		instruction->bytes + prefixes(instruction->bytes, instruction->length);

	return *opcode == 0xc3 || *opcode == 0xc2;
}

/* A function begins, which the call that stored at `stack->call` called. */
static void begin_function(struct region_stack *stack, const struct function *function,
			   const struct counts *now)
{
	uint32_t name = number_of(function->name);
	unsigned int depth = stack->depth;

	if (name == NOTHING) {
		misuse(NO_NAME, NOTHING, NOTHING);
		return;
	}
	begin_region(stack, name, now);
	if (stack->depth > depth)
		stack->regions[depth].returns = stack->call;
}

/* Whether a return that takes its address from `slot` leaves the function that is open. */
static bool returns_from_region(const struct region_stack *stack, uint64_t slot)
{
	const struct region *region = stack->depth ? &stack->regions[stack->depth - 1] : NULL;

	return region && region->returns && region->returns == slot;
}

/* The function that is open ends. */
static void end_function(struct region_stack *stack, const struct counts *now)
{
	uint32_t name = stack->regions[stack->depth - 1].name;

	note_region(name, false);
	end_region(stack, name, now);
}

#endif
