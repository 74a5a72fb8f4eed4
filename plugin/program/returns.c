/*
 * Calls and returns, as the return stack sees them.
 */
#include "program/returns.h"

#include <stdbool.h>
#include <string.h>

#include "common/linkage.h"
#include "common/qemu.h"
#include "common/return_stack.h"
#include "common/steps.h"
#include "kernel/ram.h"
#include "program/account.h"
#include "program/classes.h"
#include "program/flow.h"
#include "program/task.h"

static uint64_t transfer_at;	/* all steps with the call or return that began last */

static uint64_t steps_so_far(void)
{
	return steps_of(USER_STEPS) + steps_of(KERNEL_STEPS);
}

/* Whether this is the access of the call or return that began last, and its only one. */
static bool is_of_transfer(void)
{
	bool is = account.open && steps_so_far() == transfer_at;

	if (is)
		transfer_at = 0;
	return is;
}

HOT void on_transfer(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	transfer_at = steps_so_far() + 1;
}

HOT void on_predicted_call(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)address;
	if (qemu_plugin_mem_is_store(info) && is_of_transfer())
		push_return((uintptr_t)data);
}

HOT void on_predicted_return(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	const uint64_t length = 1u << qemu_plugin_mem_size_shift(info);
	const uint64_t known = mispredicted_returns;
	const uint8_t *place;
	uint64_t target = 0;

	(void)vcpu;
	(void)data;
	if (length > sizeof(target) || !is_of_transfer())
		return;
	place = accessed(info, address, length);
	if (!place) {
		forget_return();
		return;
	}
	memcpy(&target, place, length);
	pop_return(target);
	if (mispredicted_returns != known)
		count_event(classes.mispredicted);
}
