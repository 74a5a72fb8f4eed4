/*
 * What is called before each block, instruction and access.
 */
#include "program/translation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/arch.h"
#include "common/api.h"
#include "common/halt.h"
#include "common/marker.h"
#include "common/qemu.h"
#include "common/steps.h"
#include "kernel/passage.h"
#include "kernel/points.h"
#include "kernel/ram.h"
#include "kernel/spot.h"
#include "kernel/spot_table.h"
#include "program/call_tree.h"
#include "program/callgrind.h"
#include "program/cells.h"
#include "program/classes.h"
#include "program/code_pages.h"
#include "program/flow.h"
#include "program/functions.h"
#include "program/lines.h"
#include "program/places.h"
#include "program/region_marks.h"
#include "program/returns.h"
#include "program/run.h"
#include "program/task_struct.h"
#include "program/window_marks.h"

static void translate_all(struct qemu_plugin_tb *tb);
static bool instrumented;	/* all code, not only markers */

static void on_path(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (instrumented)
		return;
	instrumented = true;
	find_counters();
	begin_translation_anew(translate_all);
}

static exec_cb_t *const on_marker[MARKERS] = {
	[PATH_MARKER] = on_path,
	[PROGRAM_BEGIN_MARKER] = on_program_begin,
	[PROGRAM_END_MARKER] = on_program_end,
	[REGION_BEGIN_MARKER] = on_region_marker,
	[REGION_END_MARKER] = on_region_marker,
	[EXPECTED_MARKER] = on_region_marker,
	[UNEXPECTED_MARKER] = on_region_marker,
};

/* Of the block that is being translated: which instructions have a callback before them. */
static bool looked_at[LARGEST_BLOCK + 1];
static size_t in_translation;	/* the instruction that is */

static void on_execution(struct qemu_plugin_insn *insn, exec_cb_t *cb, const void *data)
{
	looked_at[in_translation] = true;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, CB_NO_REGS, (void *)data);
}

/* Whether this instruction of a row's function leaves it: it returns, or jumps to where none of the
 * row's places is, such as to a thunk that returns. */
static bool leaves_function(const struct place *place, const struct instruction *instruction,
			    uint64_t end)
{
	const struct place *to;

	if (is_return(instruction))
		return true;
	if (!is_jump(instruction))
		return false;
	to = place_at(target_of(instruction, end));
	return !to || to->kind != ROW_FUNCTION || (to->id & ROW_KIND) != (place->id & ROW_KIND);
}

/* The vector whose entry stands at `address`: places.h tells how a table's id is made. */
static uintptr_t vector_of(const struct place *place, uint64_t address)
{
	uint32_t size = place->id & 0xff;

	return (place->id >> 8) + (size ? (address - place->first) / size : 0);
}

/* What is done in the kernel's code at `address`, which `place` has, if any. */
static void translate_place(struct qemu_plugin_insn *insn, const struct instruction *instruction,
			    const struct place *place, uint64_t address)
{
	bool first = place->first == address;

	switch (place->kind) {
	case SYSCALL_FUNCTION:
		if (first)
			on_execution(insn, on_syscall_function, place);
		break;
	case PAGE_FAULT_ENTRY:
		if (first)
			on_execution(insn, on_entry, place);
		if (loads_error_code(instruction))
			qemu_plugin_register_vcpu_mem_cb(insn, on_error_code, CB_NO_REGS, MEM_RW,
							 NULL);
		break;
	case ROW_FUNCTION:
		if (first && !(place->id & ELSEWHERE))
			on_execution(insn, on_entry, place);
		if (leaves_function(place, instruction, address + instruction->length))
			on_execution(insn, on_row_function_end, place);
		break;
	case SWITCH:
		if (loads_stack(instruction))
			qemu_plugin_register_vcpu_mem_cb(insn, on_switch, CB_NO_REGS, MEM_RW,
							 (void *)stack_offset(instruction));
		break;
	case NEW_TASK_ENTRY:
		if (first)
			on_execution(insn, on_new_task, NULL);
		break;
	case TASK_COPY:
		qemu_plugin_register_vcpu_mem_cb(insn, on_copy_access, CB_NO_REGS, MEM_RW, NULL);
		break;
	case WAKE_UP:
		qemu_plugin_register_vcpu_mem_cb(insn, on_wake_store, CB_NO_REGS, MEM_W, NULL);
		break;
	case NEW_PROGRAM:
		if (first)
			on_execution(insn, on_new_program, NULL);
		break;
	case INTERRUPT_TABLE:
		if (begins_table_entry(instruction, address))
			on_execution(insn, on_table_entry, (void *)vector_of(place, address));
		break;
	default:
		if (first)
			on_execution(insn, on_entry, place);
	}
}

static void translate_kernel(struct qemu_plugin_insn *insn, const struct instruction *instruction,
			     uint64_t address)
{
	const struct place *place = place_at(address);

	if (place) {
		find_ram(insn);
		translate_place(insn, instruction, place, address);
	}
	if (idles(instruction))
		on_execution(insn, on_idle, NULL);
	if (returns_wanted && (is_call(instruction) || is_return(instruction)))
		qemu_plugin_register_vcpu_mem_cb(insn, on_return_address, CB_NO_REGS, MEM_RW, NULL);
	if (switches_task(instruction, address))
		qemu_plugin_register_vcpu_mem_cb(insn, on_task_switch, CB_NO_REGS, MEM_RW, NULL);
	if (touched.wanted)
		qemu_plugin_register_vcpu_mem_cb(insn, on_kernel_access, CB_NO_REGS, MEM_RW, NULL);
}

void translate_markers(struct qemu_plugin_tb *tb)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const struct instruction instruction = instruction_of(insn);

	keep_clock_right(tb);
		if (marker_of(&instruction) == PATH_MARKER)
			on_execution(insn, on_path, NULL);
	}
}

static void see_stores(struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_mem_cb(insn, on_store, CB_NO_REGS, MEM_RW, NULL);
}

/* Has the requests of a block of a program's be seen, and what it stores before. */
static void translate_requests(struct qemu_plugin_tb *tb)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		uintptr_t size = 0;
		size_t end = request_at(tb, i, &size);

		if (!end)
			continue;
		for (size_t before = 0; before < i; before++)
			see_stores(qemu_plugin_tb_get_insn(tb, before));
		in_translation = end - 1;
		on_execution(qemu_plugin_tb_get_insn(tb, end - 1), on_request, (void *)size);
	}
}

/* Has a function of the program's be seen that begins here, if functions are regions. */
static void translate_function(struct qemu_plugin_tb *tb, uint64_t start)
{
	const struct function *function = function_count ? function_at(tb, start) : NULL;

	in_translation = 0;
	if (function)
		on_execution(qemu_plugin_tb_get_insn(tb, 0), on_function, function);
}

static void translate_calls(struct qemu_plugin_insn *insn, const struct instruction *instruction)
{
	if (is_call(instruction))
		qemu_plugin_register_vcpu_mem_cb(insn, on_call, CB_NO_REGS, MEM_RW, NULL);
	if (is_return(instruction))
		qemu_plugin_register_vcpu_mem_cb(insn, on_function_return, CB_NO_REGS, MEM_RW,
						 NULL);
}

static void translate_string(struct qemu_plugin_insn *insn, const struct instruction *instruction,
			     uint64_t address)
{
	uintptr_t string = string_accesses(instruction), class = class_of(instruction);
	bool compares = compares_strings(instruction);

	on_execution(insn, on_string,
		     string_key(address, compares ? 0 : element_of(instruction)));
	if (class)
		on_execution(insn, on_counted_string, (void *)class);
	if (compares)
		qemu_plugin_register_vcpu_mem_cb(insn, on_string_access, CB_NO_REGS, MEM_RW,
						 (void *)string);
}

static void translate_user(struct qemu_plugin_insn *insn, const struct instruction *instruction)
{
	if (is_load_of_name(instruction))
		qemu_plugin_register_vcpu_mem_cb(insn, on_name, CB_NO_REGS, MEM_RW, NULL);
	if (function_count)
		translate_calls(insn, instruction);
	if (is_privileged(instruction))
		on_execution(insn, on_refused, NULL);
	if (touched.wanted)
		qemu_plugin_register_vcpu_mem_cb(insn, on_user_access, CB_NO_REGS, MEM_RW, NULL);
}

/* The block that begins with the instruction. */
static uint64_t block_of(const struct qemu_plugin_insn *insn)
{
	return code_block(insn, process_number(current_id));
}

/* Where control returns to after a call; of programs' code 0 if that is in another page. */
static uint64_t place_after(const struct qemu_plugin_insn *insn,
			    const struct instruction *instruction)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn), end = address + instruction->length;
	uint64_t place;

	if (is_kernel(address))
		return end;
	place = place_of(block_of(insn));
	return place == USER_CODE || address >> 12 != end >> 12 ? 0 : place + instruction->length;
}

/* Whether the calls of code at this address are in the tree. */
static bool is_in_tree(uint64_t address)
{
	return call_tree.wanted == TREE_OF_CALLERS || (call_tree.wanted && is_kernel(address));
}

/* Has calls and returns be seen, for the tree. */
static void translate_tree(struct qemu_plugin_insn *insn, const struct instruction *instruction)
{
	if (is_call(instruction))
		qemu_plugin_register_vcpu_mem_cb(insn, on_tree_call, CB_NO_REGS, MEM_RW,
						 (void *)place_after(insn, instruction));
	else if (is_return(instruction))
		qemu_plugin_register_vcpu_mem_cb(insn, on_tree_return, CB_NO_REGS, MEM_RW, NULL);
}

/* Has calls and returns be seen, for the return stack. */
static void translate_returns(struct qemu_plugin_insn *insn, const struct instruction *instruction)
{
	uint64_t end = qemu_plugin_insn_vaddr(insn) + instruction->length;
	bool calls = is_call(instruction) && !calls_next(instruction);

	if (!calls && !is_return(instruction))
		return;
	on_execution(insn, on_transfer, NULL);
	if (calls)
		qemu_plugin_register_vcpu_mem_cb(insn, on_predicted_call, CB_NO_REGS, MEM_RW,
						 (void *)end);
	else
		qemu_plugin_register_vcpu_mem_cb(insn, on_predicted_return, CB_NO_REGS, MEM_RW,
						 NULL);
}

/* Has an instruction be seen where it matters. */
static void translate_instruction(struct qemu_plugin_insn *insn,
				  const struct instruction *instruction)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	uintptr_t kind = marker_of(instruction);

	if (on_marker[kind])
		on_execution(insn, on_marker[kind], (void *)kind);
	/* Before the region ends that the return leaves. */
	if (classes.mispredicted)
		translate_returns(insn, instruction);
	if (is_kernel(address))
		translate_kernel(insn, instruction, address);
	else
		translate_user(insn, instruction);
	if (is_in_tree(address))
		translate_tree(insn, instruction);
}

/* Has the instruction itself be counted: before the frame that it leaves ends. */
static void translate_event(struct qemu_plugin_insn *insn, const struct instruction *instruction)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	uintptr_t class;

	if (string_accesses(instruction) != PLAIN) {
		translate_string(insn, instruction, address);
		return;
	}
	class = class_of(instruction);
	if (class)
		on_execution(insn, on_counted, (void *)class);
	if (is_kernel(address) && is_in(&entry_text, address) && leaves_kernel(instruction))
		on_execution(insn, on_return, NULL);
}

/* What is done where a block begins at `start`. */
static void translate_beginning(struct qemu_plugin_tb *tb, uint64_t start)
{
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);

	if (!is_kernel(start)) {
		translate_requests(tb);
		translate_function(tb, start);
	}
	if (is_in_tree(start))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_tree_block, CB_NO_REGS,
						     (void *)block_of(first));
	else if (cells.wanted && is_kernel(start))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_kernel_block, CB_NO_REGS,
						     (void *)start);
}

/*
 * Each instruction advances a counter before it is executed, and must not if it is not executed in
 * the end. One that can't fault may as well be counted with the one after it, as long as nobody
 * looks at the counters in between.
 */
static void translate_all(struct qemu_plugin_tb *tb)
{
	static struct instruction instructions[LARGEST_BLOCK];
	static bool taken_back[LARGEST_BLOCK + 1];
	size_t count = qemu_plugin_tb_n_insns(tb);
	uint64_t start = count ? qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)) : 0;
	unsigned int uncounted = 0;
	size_t spot = chosen ? 0 : count;	/* where the next one begins */

	keep_clock_right(tb);
	if (count > LARGEST_BLOCK) {
		unseen = true;
		return;
	}
	memset(looked_at, 0, count * sizeof(*looked_at));
	looked_at[count] = true;
	translate_beginning(tb, start);
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		in_translation = i;
		taken_back[i] = may_be_taken_back(qemu_plugin_insn_vaddr(insn));
		instructions[i] = instruction_of(insn);
		translate_instruction(insn, &instructions[i]);
		/* So that the frame of an interrupt is there, and nothing of the instruction is. */
		if (i == spot) {
			spot = up_to_point(tb, i);
			on_execution(insn, on_spot, spot_between(tb, i, spot));
		}
		translate_event(insn, &instructions[i]);
		if (changes_memory(&instructions[i]))
			advance(insn, CHANGES, 1);
	}
	for (size_t i = 0; i < count; i++) {
		uncounted++;
		if (is_safe(&instructions[i]) && !looked_at[i + 1] && !taken_back[i + 1])
			continue;
		/* After the callbacks: they see what was executed before this instruction. */
		advance(qemu_plugin_tb_get_insn(tb, i),
			is_kernel(start) ? KERNEL_STEPS : USER_STEPS, uncounted);
		uncounted = 0;
	}
}
