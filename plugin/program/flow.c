/*
 * The boundaries, as QEMU comes to them.
 */
#include "program/flow.h"

#include <stddef.h>
#include <string.h>

#include "arch/arch.h"
#include "common/linkage.h"
#include "common/qemu.h"
#include "common/steps.h"
#include "kernel/passage.h"
#include "kernel/ram.h"
#include "program/account.h"
#include "program/call_tree.h"
#include "program/cells.h"
#include "program/code_pages.h"
#include "program/held_fault.h"
#include "program/idling.h"
#include "program/lines.h"
#include "program/places.h"
#include "program/processes.h"
#include "program/regions.h"
#include "program/sleeps.h"
#include "program/task.h"
#include "program/task_struct.h"
#include "program/windows.h"

/* ---- Readings -------------------------------------------------------------------------------- */

struct seen seen;
struct repeat repeat;
static bool went_on;		/* the last execution of one was not its first */
struct begun begun;
static bool halfway;		/* it accesses two places, and has accessed one */
uint64_t current_id;
bool unseen;
static uint64_t refused_at;	/* all steps before the last one that only the kernel may execute */

static uint64_t all_steps(void)
{
	return steps_of(USER_STEPS) + steps_of(KERNEL_STEPS);
}

HOT struct reading reading(uint64_t after)
{
	return (struct reading){
		.user = steps_of(USER_STEPS), .kernel = steps_of(KERNEL_STEPS) + after,
		.surplus = seen.surplus, .user_surplus = seen.user_surplus,
		.string_bytes = seen.string_bytes, .lines = seen.lines, .pages = seen.pages,
		.visits = seen.visits, .checks = seen.checks, .changes = steps_of(CHANGES),
	};
}

/* ---- Entries and returns --------------------------------------------------------------------- */

static void enter(enum row_kind kind, uint32_t id)
{
	const struct reading now = reading(0);

	if (!account.open)
		return;
	end_wait(now.user + now.kernel - account.faults);
	push(kind, id, &now, &repeat, &begun);
	repeat.instruction = NULL;
}

void on_entry(unsigned int vcpu, void *data)
{
	const struct place *place = data;

	(void)vcpu;
	switch (place->kind) {
	case SYSCALL_ENTRY:
		enter(place->id ? SYSCALL_32 : SYSCALL, UNNAMED);
		break;
	case PAGE_FAULT_ENTRY:
		enter(PAGE_FAULT, UNNAMED);
		break;
	case FAULT_ENTRY:
		if (account.open) {
			bool counted = refused_at + 1 == all_steps();

			enter(EXCEPTION, place->id);
			if (!counted)
				undo();
		}
		break;
	case TRAP_ENTRY:
		enter(EXCEPTION, place->id);
		break;
	case INTERRUPT_ENTRY:
		enter(INTERRUPT, place->id);
		break;
	case ROW_FUNCTION:
		enter(place->id & ROW_KIND, 0);
		break;
	default:
		break;
	}
}

void on_table_entry(unsigned int vcpu, void *data)
{
	(void)vcpu;
	enter(INTERRUPT, VECTOR | (uint32_t)(uintptr_t)data);
}

void on_syscall_function(unsigned int vcpu, void *data)
{
	const struct place *place = data;
	struct frame *frame;

	(void)vcpu;
	if (!account.open)
		return;
	frame = top(SYSCALL);
	if (!frame)
		frame = top(SYSCALL_32);
	if (frame && frame->id == UNNAMED)
		name_frame(frame, place->id);
}

void on_return(unsigned int vcpu, void *data)
{
	const struct reading now = reading(1);

	(void)vcpu;
	(void)data;
	if (account.open)
		return_from_kernel(&now, &repeat);
}

void on_row_function_end(unsigned int vcpu, void *data)
{
	const struct reading now = reading(1);
	const struct place *place = data;

	(void)vcpu;
	if (account.open && top(place->id & ROW_KIND))
		pop(&now, &repeat);
}

void on_error_code(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	struct frame *frame;
	const uint8_t *place;
	uint64_t instruction;

	(void)vcpu;
	(void)data;
	frame = account.open ? top(PAGE_FAULT) : NULL;
	if (!frame || frame->id != UNNAMED)
		return;
	place = accessed(info, address, FAULT_END);
	if (!place) {
		lose(NO_ERROR_CODE);
		return;
	}
	memcpy(&instruction, place + FAULT_ADDRESS, sizeof(instruction));
	name_fault(account.current, below_top(account.current), *place & KNOWN_ERRORS, instruction);
	/* An instruction that could not be fetched was not begun. */
	if (!(*place & FETCH_ERROR))
		undo();
	else
		below_top(account.current)->faults++;
}

void on_refused(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	refused_at = all_steps();
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

void on_switch(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	const struct reading now = reading(0);

	(void)vcpu;
	current_id = address;
	see_slot(info, address, (uintptr_t)data);
	if (account.open)
		switch_to(address, &now);
}

void on_new_task(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);

	(void)vcpu;
	(void)data;
	if (account.open) {
		leave_regions(account.current);
		begin_task(&now);
	}
}

void on_copy_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)data;
	if (account.open && qemu_plugin_mem_is_store(info) &&
	    qemu_plugin_mem_size_shift(info) == 3 && !((address ^ current_id) % TASK_ALIGNMENT))
		note_fork(address, account.current->process);
}

void on_wake_store(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	const struct reading now = reading(0);
	struct task *task;

	(void)vcpu;
	(void)info;
	(void)data;
	if (!account.open)
		return;
	task = known_task(slot_near(address));
	if (task)
		wake_task(task, account.current, now.user + now.kernel - account.faults);
}

void on_new_program(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (!account.open)
		return;
	name_process(account.current);
	renew_calls(account.current);
}

void on_kernel_block(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);

	(void)vcpu;
	if (!account.open)
		return;
	settle(&now);
	enter_block((uintptr_t)data);
}

void on_tree_block(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);
	const uint64_t place = place_of((uintptr_t)data);

	(void)vcpu;
	if (!account.open)
		return;
	settle(&now);
	follow_call(account.current, cells.current, place);
	enter_block(function_of((uintptr_t)data));
	cells.place = place;
}

void on_tree_call(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	if (qemu_plugin_mem_is_store(info))
		note_call(address, (uintptr_t)data);
}

void on_tree_return(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)info;
	(void)data;
	note_return(address);
}

void on_idle(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	seen.idled++;
	if (account.open)
		wait_for_interrupt();
}

/* ---- String instructions --------------------------------------------------------------------- */

void *string_key(uint64_t address, uint64_t bytes)
{
	return (void *)(address << 4 | (bytes ? __builtin_ctzll(bytes) + 1 : 0));
}

static uint64_t moved_by(const void *key)
{
	unsigned int code = (uintptr_t)key & 0xf;

	return code ? 1u << (code - 1) : 0;
}

void on_string(unsigned int vcpu, void *data)
{
	uint64_t now = all_steps();

	(void)vcpu;
	went_on = repeat.instruction == data && repeat.next == now;
	if (went_on) {
		seen.surplus++;
		seen.user_surplus += !is_kernel((uintptr_t)data);
		seen.string_bytes += repeat.bytes;
		/* Once for all its executions: one that moves something is no check. */
		seen.checks += !repeat.checks;
		repeat.checks = true;
	} else {
		repeat.instruction = data;
		repeat.bytes = moved_by(data);
		repeat.checks = false;
	}
	repeat.next = now + 1;
	halfway = false;
}

/* ---- Instructions that are events ------------------------------------------------------------ */

void on_counted(unsigned int vcpu, void *data)
{
	(void)vcpu;
	if (!account.open)
		return;
	count_event((uintptr_t)data);
	begun = (struct begun){ .next = all_steps() + 1, .class = (uintptr_t)data };
}

void on_counted_string(unsigned int vcpu, void *data)
{
	(void)vcpu;
	if (account.open && !went_on)
		count_event((uintptr_t)data);
}

/* ---- Lines of data --------------------------------------------------------------------------- */

/* What is executed now accesses this address; if it is the kernel, lines are counted once, too. */
static void touch(uint64_t address, bool in_kernel)
{
	if (visit_line(current_line(), address)) {
		seen.visits++;
		if (in_kernel)
			touch_line(address, current_number(), &seen.lines, &seen.pages);
	}
	for (uint32_t left = chosen; left; left &= left - 1) {
		struct window *window = &windows[__builtin_ctz(left)];

		if (!window->open || !visit_line(&window->last_line, address))
			continue;
		window->visits++;
		if (in_kernel)
			touch_line(address, window->begun_at, &window->lines, &window->pages);
	}
}

/* An access may be to two lines. */
static void touch_lines(uint32_t info, uint64_t address, bool in_kernel)
{
	uint64_t last = address + (1u << qemu_plugin_mem_size_shift(info)) - 1;

	if (!account.open)
		return;
	touch(address, in_kernel);
	if (last >> 6 != address >> 6)
		touch(last, in_kernel);
}

void on_kernel_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)data;
	touch_lines(info, address, true);
}

void on_user_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)data;
	touch_lines(info, address, false);
}

void on_string_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	bool store = qemu_plugin_mem_is_store(info);
	uintptr_t string = (uintptr_t)data;

	(void)vcpu;
	(void)address;
	if (store != (string == LAST_ACCESS_IS_STORE))
		return;
	if (string == LOADS_TWICE && !halfway) {
		halfway = true;
		return;
	}
	seen.string_bytes += 1u << qemu_plugin_mem_size_shift(info);
	seen.checks -= repeat.checks;
	repeat.checks = false;
}
