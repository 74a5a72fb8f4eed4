/*
 * Work for a CPU that is about to wait.
 */
#include "common/halt.h"

#include <stddef.h>

#include "arch/arch.h"
#include "common/api.h"

static void on_halt(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	give_cpus_work();
}

void keep_clock_right(const struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_insn *last =
		qemu_plugin_tb_get_insn(tb, qemu_plugin_tb_n_insns(tb) - 1);
	const struct instruction instruction = instruction_of(last);

	if (idles(&instruction))
		qemu_plugin_register_vcpu_insn_exec_cb(last, on_halt, CB_NO_REGS, NULL);
}
