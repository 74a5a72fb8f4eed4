/*
 * What the program plugin does when the guest enters the kernel or leaves it, switches tasks, idles
 * or repeats a string instruction: the boundaries of the accounts (account.h). Part of program.c.
 */
#ifndef PLUGIN_FLOW_H
#define PLUGIN_FLOW_H

#include "account.h"
#include "lines.h"
#include "memory.h"
#include "places.h"
#include "steps.h"
#include "x86.h"

/* ---- Readings -------------------------------------------------------------------------------- */

enum { USER_STEPS, KERNEL_STEPS };

static struct {
	uint64_t surplus;	/* executions of string instructions beyond the first */
	uint64_t user_surplus;	/* of these, in code of a program's */
	uint64_t string_bytes;
	uint64_t lines, pages;
	uint64_t checks;	/* of string instructions, that they are done */
	uint64_t idled;		/* times that the CPU was told to wait */
} seen;
static struct repeat repeat;	/* the string instruction begun last */
static bool went_on;		/* the last execution of one was not its first */
static struct begun begun;
static bool halfway;		/* it accesses two places, and has accessed one */
static uint64_t current_id;	/* the current task, in a run or not; 0 until one is seen */
static bool instrumented;	/* all code, not only markers */
static bool unseen;		/* some code is not instrumented */
static uint64_t refused_at;	/* all steps before the last one that only the kernel may execute */

static uint64_t all_steps(void)
{
	return steps_of(USER_STEPS) + steps_of(KERNEL_STEPS);
}

/* At a boundary before an instruction, or, with `after` 1, after one of the kernel's that has only
 * begun. */
static struct reading reading(uint64_t after)
{
	return (struct reading){
		.user = steps_of(USER_STEPS), .kernel = steps_of(KERNEL_STEPS) + after,
		.surplus = seen.surplus, .user_surplus = seen.user_surplus,
		.string_bytes = seen.string_bytes, .lines = seen.lines, .pages = seen.pages,
		.checks = seen.checks,
	};
}

/* ---- Entries and returns --------------------------------------------------------------------- */

static void enter(enum row_kind kind, uint32_t id)
{
	const struct reading now = reading(0);

	if (!account.open)
		return;
	push(kind, id, &now, &repeat, &begun);
	repeat.instruction = NULL;
}

static void on_entry(unsigned int vcpu, void *data)
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
	case SOFTIRQS:
		enter(SOFTIRQ, 0);
		break;
	default:
		break;
	}
}

/* Of an interrupt that arrives through a table: `data` is its vector. */
static void on_table_entry(unsigned int vcpu, void *data)
{
	(void)vcpu;
	enter(INTERRUPT, VECTOR | (uint32_t)(uintptr_t)data);
}

static void on_syscall_function(unsigned int vcpu, void *data)
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

static void on_return(unsigned int vcpu, void *data)
{
	const struct reading now = reading(1);

	(void)vcpu;
	(void)data;
	if (account.open)
		return_from_kernel(&now, &repeat);
}

static void on_softirqs_end(unsigned int vcpu, void *data)
{
	const struct reading now = reading(1);

	(void)vcpu;
	(void)data;
	if (account.open && top(SOFTIRQ))
		pop(&now, &repeat);
}

/* Of the instruction that loads a page fault's error code (Intel SDM volume 3, 4.7). */
static void on_error_code(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	enum { FETCH = 1 << 4, KNOWN = 0x1f };
	struct frame *frame;
	const uint8_t *place;

	(void)vcpu;
	(void)data;
	frame = account.open ? top(PAGE_FAULT) : NULL;
	if (!frame || frame->id != UNNAMED)
		return;
	place = accessed(info, address, 1);
	if (!place) {
		lose(NO_ERROR_CODE);
		return;
	}
	name_frame(frame, *place & KNOWN);
	/* An instruction that could not be fetched was not begun. */
	if (!(*place & FETCH))
		undo();
	else
		below_top(account.current)->faults++;
}

/* An instruction that a program may not execute: QEMU knows so when it translates it, and then its
 * clock counts it although it is not executed. Of other faults it finds out too late for that. */
static void on_refused(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	refused_at = all_steps();
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Of the instruction that loads the next task's stack pointer. */
static void on_switch(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	const struct reading now = reading(0);

	(void)vcpu;
	(void)info;
	(void)data;
	current_id = address;
	if (account.open)
		switch_to(address, &now);
}

static void on_new_task(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);

	(void)vcpu;
	(void)data;
	if (account.open) {
		leave_regions(account.current);
		begin_task(&now);
	}
}

/* A block of the kernel's code begins at the address `data`. */
static void on_kernel_block(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);

	(void)vcpu;
	if (!account.open)
		return;
	settle(&now);
	enter_block((uintptr_t)data);
}

static void on_idle(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	seen.idled++;
}

/* ---- String instructions --------------------------------------------------------------------- */

/* What an instruction is told apart by, with the bytes that it moves each time if they are to be
 * counted so: its address, of which the highest bits are one, and their logarithm, plus 1. */
static void *string_key(uint64_t address, uint64_t bytes)
{
	return (void *)(address << 4 | (bytes ? __builtin_ctzll(bytes) + 1 : 0));
}

static uint64_t moved_by(const void *key)
{
	unsigned int code = (uintptr_t)key & 0xf;

	return code ? 1u << (code - 1) : 0;
}

/* Before each execution of one: `data` is made by string_key(). One that goes on has moved what it
 * does the time before; the last time it only sees that it is done. */
static void on_string(unsigned int vcpu, void *data)
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

/* Before each execution of one: `data` is its class, from 1. */
static void on_counted(unsigned int vcpu, void *data)
{
	(void)vcpu;
	if (!account.open)
		return;
	count_event((uintptr_t)data);
	begun = (struct begun){ .next = all_steps() + 1, .class = (uintptr_t)data };
}

/* The same of a string instruction that repeats, after on_string: it is one, however often. If it
 * faults the first time, it goes on after that. */
static void on_counted_string(unsigned int vcpu, void *data)
{
	(void)vcpu;
	if (account.open && !went_on)
		count_event((uintptr_t)data);
}

/* ---- Lines of data --------------------------------------------------------------------------- */

/* The kernel accesses the bytes from `first` to `last`, in one line or two. */
static void touch_lines(uint64_t first, uint64_t last)
{
	uint64_t lines = 1 + (last >> 6 != first >> 6);

	for (uint64_t line = 0; line < lines; line++) {
		uint64_t address = line ? last : first;

		touch_line(address, current_number(), &seen.lines, &seen.pages);
		for (uint32_t left = chosen; left; left &= left - 1) {
			struct kernel_window *window = &kernel_windows[__builtin_ctz(left)];

			if (window->open)
				touch_line(address, window->begun_at, &window->lines,
					   &window->pages);
		}
	}
}

/* Of each instruction of the kernel's, if lines are counted. */
static void on_kernel_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t last = address + (1u << qemu_plugin_mem_size_shift(info)) - 1;

	(void)vcpu;
	(void)data;
	if (!account.open)
		return;
	touch_lines(address, last);
}

/* Of one that may end by what it compares: it has moved what it did access. */
static void on_string_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
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

#endif
