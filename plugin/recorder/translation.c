/*
 * What is called before each instruction and access.
 */
#include "recorder/translation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "common/api.h"
#include "common/marker.h"
#include "common/qemu.h"
#include "kernel/passage.h"
#include "kernel/points.h"
#include "kernel/spot.h"
#include "kernel/spot_table.h"
#include "recorder/code.h"
#include "recorder/job.h"
#include "recorder/observation.h"

static void translate_all(struct qemu_plugin_tb *tb);
static bool instrumented;	/* all code, not only markers */

static void on_path(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	end_path();
}

/* The instruction after a path marker loads from so many bytes into a page. */
static void on_path_number(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)info;
	(void)data;
	if (!begin_path(path_of(address)))
		return;
	if (!instrumented)
		begin_translation_anew(translate_all);
	instrumented = true;
}

static exec_cb_t *const on_marker[MARKERS] = {
	[BEGIN_MARKER] = on_begin, [END_MARKER] = on_end, [PATH_MARKER] = on_path,
};

void translate_markers(struct qemu_plugin_tb *tb)
{
	bool after_path = false;

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const struct instruction instruction = instruction_of(insn);
		enum marker mark = marker_of(&instruction);

		if (after_path)
			qemu_plugin_register_vcpu_mem_cb(insn, on_path_number, CB_NO_REGS, MEM_RW,
							 NULL);
		if (on_marker[mark])
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker[mark], CB_NO_REGS,
							       NULL);
		after_path = mark == PATH_MARKER;
	}
}

/* Has the instructions before which a window may begin or end announced. */
static void translate_spots(struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb), first = 0, next;

	for (; point_count && first < count; first = next) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, first);

		next = up_to_point(tb, first);
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_spot, CB_NO_REGS,
						       spot_between(tb, first, next));
	}
}

static void translate_all(struct qemu_plugin_tb *tb)
{
	bool after_path = false;

	if (current == job_count)
		return;
	translate_spots(tb);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const struct instruction instruction = instruction_of(insn);
		enum marker mark = marker_of(&instruction);
		struct code *code;

		if (after_path)
			qemu_plugin_register_vcpu_mem_cb(insn, on_path_number, CB_NO_REGS, MEM_RW,
							 NULL);
		after_path = mark == PATH_MARKER;
		if (on_marker[mark]) {
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker[mark], CB_NO_REGS,
							       NULL);
			continue;
		}
		if (switches_task(&instruction, qemu_plugin_insn_vaddr(insn)))
			qemu_plugin_register_vcpu_mem_cb(insn, on_task_switch, CB_NO_REGS, MEM_RW,
							 NULL);
		code = intern(insn, &instruction);
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_instruction, CB_NO_REGS, code);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW, code);
	}
}
