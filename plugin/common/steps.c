/*
 * The counters: each is a variable, or an element of a scoreboard, which may be looked into only
 * once there are CPUs.
 */
#include "common/steps.h"

enum { STEP_COUNTERS = 3 };

static uint64_t step_variables[STEP_COUNTERS];
uint64_t *step_counters = step_variables;
static struct qemu_plugin_scoreboard *score;

static void on_first_step(unsigned int vcpu, void *data)
{
	(void)vcpu;
	step_counters[0] += (uintptr_t)data;
}

static void on_second_step(unsigned int vcpu, void *data)
{
	(void)vcpu;
	step_counters[1] += (uintptr_t)data;
}

static void on_third_step(unsigned int vcpu, void *data)
{
	(void)vcpu;
	step_counters[2] += (uintptr_t)data;
}

void advance(struct qemu_plugin_insn *insn, unsigned int counter, uintptr_t number)
{
	const qemu_plugin_u64 entry = { .score = score, .offset = counter * sizeof(uint64_t) };
	static exec_cb_t *const callbacks[STEP_COUNTERS] = {
		on_first_step, on_second_step, on_third_step,
	};

	if (score)
		register_inline_v2(insn, INLINE_ADD, entry, number);
	else if (register_inline_v1)
		register_inline_v1(insn, INLINE_ADD, &step_variables[counter], number);
	else
		qemu_plugin_register_vcpu_insn_exec_cb(insn, callbacks[counter], CB_NO_REGS,
						       (void *)number);
}

/*
 * With several CPUs there is no scoreboard: where they take turns, QEMU 10 multiplies what it takes
 * for the constant number of the CPU once more at each inline operation of a block (gen_cpu_index()
 * and gen_plugin_u64_ptr() in accel/tcg/plugin-gen.c), which leaves 0 alone and no other.
 */
void make_counters(const qemu_info_t *info)
{
	if (scoreboard_new && info->smp_vcpus == 1)
		score = scoreboard_new(sizeof(step_variables));
}

void find_counters(void)
{
	if (score)
		step_counters = scoreboard_find(score, 0);
}
