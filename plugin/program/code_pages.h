/*
 * Pages of the programs' code, by what is in them: the host, which has the programs' files, finds
 * out from that where in a file a block's code is. An address tells it not: each process has others.
 */
#ifndef PLUGIN_CODE_PAGES_H
#define PLUGIN_CODE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "common/qemu.h"

enum { MOST_PAGES = 1 << 14, PAGE_BITS = 12 };

/* Where the program's instruction is: the number of its page, from 1, and the place in that. A cell's
 * USER_CODE if it is not known. A new page is written to the stream. */
uint64_t code_place(const struct qemu_plugin_insn *insn);

#endif
