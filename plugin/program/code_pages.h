/*
 * Pages of the programs' code. The host, which has the programs' files, finds out by what is in a
 * page where in a file code is: an address does not tell, since each process has others. Code that
 * is in no packed file is told by its address and its process: JITs name theirs by these.
 */
#ifndef PLUGIN_CODE_PAGES_H
#define PLUGIN_CODE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "common/qemu.h"

enum { MOST_PAGES = 1 << 14, PAGE_BITS = 12 };

/* Where an instruction is, and in which function: for place_of() and function_of(). A new page of a
 * program's, of the process with this number, is written to the stream. */
uint64_t code_block(const struct qemu_plugin_insn *insn, uint32_t process);

/* Where the block is: an address of the kernel's, or the number of a program's page, from 1, and
 * the place in that. A cell's USER_CODE if it is not known. */
static inline uint64_t place_of(uint64_t block)
{
	return (uint64_t)((int64_t)(block << 16) >> 16);
}

/* A place in the same function: the same for all blocks in it that are in one page. */
static inline uint64_t function_of(uint64_t block)
{
	return place_of(block) - (block >> 48);
}

#endif
