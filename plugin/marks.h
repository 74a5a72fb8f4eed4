/*
 * What the program plugin does where a program marks regions: by markers, by its functions, or by
 * Callgrind's requests. Part of program.c.
 */
#ifndef PLUGIN_MARKS_H
#define PLUGIN_MARKS_H

#include "callgrind.h"
#include "flow.h"
#include "functions.h"
#include "regions.h"

static void on_region_marker(unsigned int vcpu, void *data)
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

/* Of an instruction as the ones after a region's marker. */
static void on_name(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
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

static void on_call(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	struct region_stack *stack = account.open ? stack_of(account.current) : NULL;

	(void)vcpu;
	(void)data;
	if (stack && qemu_plugin_mem_is_store(info))
		stack->call = address;
}

static void on_function(unsigned int vcpu, void *data)
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

static void on_function_return(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
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

/* Of the last instruction of a client request, whose words have `data` bytes. */
static void on_request(unsigned int vcpu, void *data)
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

#endif
