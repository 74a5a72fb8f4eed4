/*
 * What is called before each instruction and access.
 */
#include "recorder/translation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "common/api.h"
#include "common/halt.h"
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
enum { LARGEST_STRETCH = 64 };

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

	keep_clock_right(tb);
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

/* Whether an instruction is announced with the one after it, which begins at `next`. */
static bool goes_on(const struct instruction *instruction, uint64_t next)
{
	return is_safe(instruction) && !may_be_taken_back(next);
}

/* Instructions between two points: no window begins or ends among them but at a marker. */
static void translate_part(struct qemu_plugin_tb *tb, size_t first, size_t end)
{
	struct code *codes[LARGEST_STRETCH];
	bool after_path = false;
	size_t count = 0;

	for (size_t i = first; i < end; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const struct instruction instruction = instruction_of(insn);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		enum marker mark = marker_of(&instruction);
		bool last;

		if (after_path)
			qemu_plugin_register_vcpu_mem_cb(insn, on_path_number, CB_NO_REGS, MEM_RW,
							 NULL);
		after_path = mark == PATH_MARKER;
		if (!on_marker[mark])
			codes[count++] = intern(insn, &instruction);
		last = on_marker[mark] || i + 1 == end || count == LARGEST_STRETCH ||
		       !goes_on(&instruction, address + instruction.length);
		if (last && count) {
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_stretch, CB_NO_REGS,
							       intern_stretch(codes, count));
			count = 0;
		}
		if (on_marker[mark]) {
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker[mark], CB_NO_REGS,
							       NULL);
			continue;
		}
		if (switches_task(&instruction, address))
			qemu_plugin_register_vcpu_mem_cb(insn, on_task_switch, CB_NO_REGS, MEM_RW,
							 NULL);
		if (!is_safe(&instruction))
			qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW, NULL);
	}
}

static void translate_all(struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb), first = 0, next;

	keep_clock_right(tb);
	for (; current < job_count && first < count; first = next) {
		next = point_count ? up_to_point(tb, first) : count;
		/* Before the first of its instructions a window may begin or end. */
		if (point_count)
			qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, first),
							       on_spot, CB_NO_REGS,
							       spot_between(tb, first, next));
		translate_part(tb, first, next);
	}
}
