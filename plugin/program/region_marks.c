/*
 * The marks of regions, as QEMU comes to them.
 */
#include "program/region_marks.h"

#include <stdbool.h>
#include <stddef.h>

#include "common/marker.h"
#include "common/qemu.h"
#include "program/account.h"
#include "program/callgrind.h"
#include "program/cells.h"
#include "program/flow.h"
#include "program/functions.h"
#include "program/regions.h"
#include "program/task.h"

void on_region_marker(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);
	struct region_stack *stack = account.open ? stack_of(account.current) : NULL;

	(void)vcpu;
	if (!stack)
		return;
	settle(&now);
	/* What comes after is in no region any more, whose end it may be. */
	if ((uintptr_t)data == REGION_END_MARKER && stack->depth)
		note_region(stack->regions[stack->depth - 1].name, false);
	stack->mark = (enum marker)(uintptr_t)data;
	stack->at_mark = totals(&now);
	stack->loads = 0;
	stack->length = 0;
}

void on_name(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	struct region_stack *stack = account.open ? account.current->regions : NULL;
	const struct reading now = reading(0);
	struct counts counts;

	(void)vcpu;
	(void)data;
	if (!stack || stack->mark == NO_MARKER)
		return;
	settle(&now);
	counts = totals(&now);
	load_name(stack, info, address, &counts);
}

void on_call(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	struct region_stack *stack = account.open ? stack_of(account.current) : NULL;

	(void)vcpu;
	(void)data;
	if (stack && qemu_plugin_mem_is_store(info))
		stack->call = address;
}

void on_function(unsigned int vcpu, void *data)
{
	struct region_stack *stack = account.open ? stack_of(account.current) : NULL;
	const struct reading now = reading(0);
	struct counts counts;

	(void)vcpu;
	if (!stack)
		return;
	settle(&now);
	counts = totals(&now);
	begin_function(stack, data, &counts);
}

void on_function_return(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	struct region_stack *stack = account.open ? account.current->regions : NULL;
	const struct reading now = reading(0);
	struct counts counts;

	(void)vcpu;
	(void)data;
	if (!stack || qemu_plugin_mem_is_store(info) || !returns_from_region(stack, address))
		return;
	settle(&now);
	counts = totals(&now);
	end_function(stack, &counts);
}

void on_request(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);
	uint64_t argument = 0;
	enum request what;
	struct counts counts;

	(void)vcpu;
	if (!account.open)
		return;
	counts = totals(&now);
	what = last_request((uintptr_t)data, &argument);
	carry_out(what, argument, &counts);
	stored.count = 0;
}
