/*
 * Instructions by their bytes, and their definitions in the stream.
 */
#include "recorder/code.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "common/linkage.h"
#include "common/qemu.h"
#include "common/stream.h"
#include "recorder/job.h"

enum { BUCKETS = 1 << 16 };
static struct code *codes[BUCKETS];

struct code *intern(const struct qemu_plugin_insn *insn,
		    const struct instruction *instruction)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(insn);
	void *haddr = qemu_plugin_insn_haddr(insn);
	struct code **bucket = &codes[(vaddr * 0x9e3779b97f4a7c15u) >> 48];
	struct code *code;

	for (code = *bucket; code; code = code->next)
		if (code->vaddr == vaddr && code->haddr == haddr &&
		    !memcmp(&code->instruction, instruction, sizeof(*instruction)))
			return code;
	code = calloc(1, sizeof(*code));
	if (!code)
		abort();
	code->vaddr = vaddr;
	code->haddr = haddr;
	code->instruction = *instruction;
	code->next = *bucket;
	*bucket = code;
	return code;
}

struct stretch *intern_stretch(struct code *const *codes, size_t count)
{
	struct stretch *stretch;

	for (stretch = codes[0]->stretches; stretch; stretch = stretch->next)
		if (stretch->count == count &&
		    !memcmp(stretch->codes, codes, count * sizeof(*codes)))
			return stretch;
	stretch = malloc(sizeof(*stretch) + count * sizeof(*codes));
	if (!stretch)
		abort();
	stretch->count = count;
	memcpy(stretch->codes, codes, count * sizeof(*codes));
	stretch->next = codes[0]->stretches;
	codes[0]->stretches = stretch;
	return stretch;
}

HOT int64_t number_of(struct code *code)
{
	if (code->job == current + 1)
		return code->number;
	code->job = current + 1;
	code->number = code_count++;
	put_run();
	record(INSN);
	put_word(code->vaddr);
	/* The paddr is unknown. haddr differs from run to run; it only serves as key. */
	put_word(UINT64_MAX);
	put(code->instruction.length);
	put_bytes(code->instruction.bytes, code->instruction.length);
	return code->number;
}
