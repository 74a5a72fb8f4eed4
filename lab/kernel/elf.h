/* Static ELF programs: checking and loading them. */
#ifndef LAB_ELF_H
#define LAB_ELF_H

#include "mm.h"
#include "types.h"

struct elf_program {
	bool compat;     /* a 32-bit program */
	u64 entry;
	u64 headers;     /* where its program headers are in memory; 0: nowhere */
	u32 header_size; /* bytes of each */
	u32 header_count;
	u64 end;         /* first address after its segments */
};

/* Maps the file's segments into `mm`, which has none. 0, -ENOEXEC if anything about the file is
 * wrong or foreign, or -ENOMEM. */
i64 elf_load(const u8 *file, u64 size, struct mm *mm, struct elf_program *program);

#endif
