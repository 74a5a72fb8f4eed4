/* The kernel's symbols, in the text form of /proc/kallsyms: "ffffffff80100000 T name\n", sorted. */
#ifndef LAB_KALLSYMS_H
#define LAB_KALLSYMS_H

#include "types.h"

/* The text itself, put into the image by the second link pass. */
extern const char kallsyms_start[], kallsyms_end[];

/* Writes "name+0xoffset" of the code at `address`, or "?" if there is none. */
void kallsyms_name(u64 address, char *out, size_t size);

#endif
