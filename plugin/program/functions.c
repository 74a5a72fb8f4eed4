/*
 * Functions by their bytes, and the regions that they are.
 */
#include "program/functions.h"

#include <string.h>

#include "arch/arch.h"
#include "common/api.h"
#include "common/qemu.h"
#include "program/cells.h"
#include "program/regions.h"
#include "program/task.h"

static struct function functions[MOST_FUNCTIONS];
size_t function_count;

bool read_function(FILE *file)
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

const struct function *function_at(struct qemu_plugin_tb *tb, uint64_t start)
{
	uint8_t bytes[KNOWN_BYTES + MAX_LENGTH];
	size_t length = 0;

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb) && length < KNOWN_BYTES; i++) {
		const struct instruction next = instruction_of(qemu_plugin_tb_get_insn(tb, i));

		memcpy(bytes + length, next.bytes, next.length);
		length += next.length;
	}
	for (size_t i = 0; i < function_count; i++) {
		const struct function *function = &functions[i];
		size_t same = length < function->length ? length : function->length;

		if (function->in_page == (start & 4095) && !memcmp(function->bytes, bytes, same))
			return function;
	}
	return NULL;
}

void begin_function(struct region_stack *stack, const struct function *function,
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

bool returns_from_region(const struct region_stack *stack, uint64_t slot)
{
	const struct region *region = stack->depth ? &stack->regions[stack->depth - 1] : NULL;

	return region && region->returns && region->returns == slot;
}

void end_function(struct region_stack *stack, const struct counts *now)
{
	uint32_t name = stack->regions[stack->depth - 1].name;

	note_region(name, false);
	end_region(stack, name, now);
}
