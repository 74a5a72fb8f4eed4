/*
 * What the instructions of a client request are (Valgrind include/valgrind.h,
 * __SPECIAL_INSTRUCTION_PREAMBLE), in both sizes of x86's words.
 */
#ifndef PLUGIN_X86_64_REQUEST_H
#define PLUGIN_X86_64_REQUEST_H

#include <stddef.h>

#include "arch/x86_64/instruction.h"
#include "common/linkage.h"

enum { PREAMBLES = 2, LONGEST_PREAMBLE = 5 };

struct preamble {
	size_t word;		/* bytes of each of the request's words */
	struct instruction instructions[LONGEST_PREAMBLE];
};
extern HIDDEN const struct preamble preambles[PREAMBLES];

#endif
