/*
 * What is called before each block, instruction and access.
 */
#include "counter/translation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "common/api.h"
#include "common/halt.h"
#include "common/marker.h"
#include "common/qemu.h"
#include "common/steps.h"
#include "counter/observation.h"
#include "counter/pieces.h"
#include "kernel/passage.h"
#include "kernel/points.h"
#include "kernel/spot.h"

static void translate_all(struct qemu_plugin_tb *tb);
static bool instrumented;	/* all code, not only markers */

static void on_path(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	end_path();
	if (!instrumented) {
		find_counters();
		begin_translation_anew(translate_all);
	}
	instrumented = true;
}

static exec_cb_t *const on_marker[MARKERS] = {
	[BEGIN_MARKER] = on_begin, [END_MARKER] = on_end, [PATH_MARKER] = on_path,
};

void translate_markers(struct qemu_plugin_tb *tb)
{
	bool after_path = false;

	keep_clock_right(tb);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const struct instruction instruction = instruction_of(insn);

		if (after_path)
			qemu_plugin_register_vcpu_mem_cb(insn, on_path_number, CB_NO_REGS, MEM_RW,
							 NULL);
		after_path = marker_of(&instruction) == PATH_MARKER;
		if (after_path)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_path, CB_NO_REGS, NULL);
	}
}

static void translate_block(struct qemu_plugin_tb *tb, size_t first, const struct block *block)
{
	bool after_path = false;
	uint64_t uncounted = 0, address = block->start;

	for (uint32_t i = 0; i < block->size; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, first + i);
		const struct instruction *instruction = &block->instructions[i];
		enum marker mark = marker_of(instruction);

		uncounted++;
		find_misplaced(address, instruction->length);
		address += instruction->length;
		/* What will be executed once it was begun is counted with what comes after it. */
		if (is_safe(instruction) && !on_marker[mark] && i + 1 < block->size &&
		    !may_be_taken_back(address))
			continue;
		advance(insn, 0, uncounted);
		uncounted = 0;
		if (on_marker[mark])
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker[mark], CB_NO_REGS,
							       NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, after_path ? on_path_number : on_access,
						 CB_NO_REGS, MEM_RW,
						 (void *)string_accesses(instruction));
		after_path = mark == PATH_MARKER;
		if (switches_task(instruction, address - instruction->length))
			qemu_plugin_register_vcpu_mem_cb(insn, on_task_switch, CB_NO_REGS, MEM_RW,
							 NULL);
	}
}

static void translate_all(struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb), first = 0, size;

	keep_clock_right(tb);
	for (; first < count; first += size) {
		struct block *block;

		size = up_to_point(tb, first) - first;
		block = block_of(tb, first, size);
		if (!block) {
			deaf = true;
			return;
		}
		if (first == 0)
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, CB_NO_REGS,
							     handle_of(block));
		else
			qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, first),
							       on_block, CB_NO_REGS,
							       handle_of(block));
		translate_block(tb, first, block);
	}
}
