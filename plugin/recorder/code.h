/*
 * The instructions that were translated, their numbers in a stream, and which of them QEMU
 * announces together.
 */
#ifndef PLUGIN_CODE_H
#define PLUGIN_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "common/qemu.h"

struct code {			/* an instruction as it was when translated */
	uint64_t vaddr;
	void *haddr;
	struct instruction instruction;
	uint32_t number;	/* in the stream of this job, ... */
	unsigned int job;	/* ... from 1, 0 if none has it yet */
	struct code *next;	/* in its bucket */
	struct stretch *stretches;	/* that begin with it */
};

/* Instructions in a row: once the first was begun, all are executed, unless the last one faults. */
struct stretch {
	struct stretch *next;	/* that begins alike */
	size_t count;
	struct code *codes[];
};

/* The instruction's entry, made when it is new. Lives as long as QEMU. */
struct code *intern(const struct qemu_plugin_insn *insn,
		    const struct instruction *instruction);

/* The stretch of these, likewise. */
struct stretch *intern_stretch(struct code *const *codes, size_t count);

/* The instruction's number in this stream, which defines it when it is first executed. */
int64_t number_of(struct code *code);

#endif
