/*
 * System calls of memory: arguments as Linux has them, turned into those of mm.h. Only anonymous
 * memory can be mapped; no program here needs a file's.
 */
#include "file.h"
#include "mm.h"
#include "page.h"
#include "syscall.h"
#include "syscalls.h"

/* PROT_READ, PROT_WRITE and PROT_EXEC are AREA_READ, AREA_WRITE and AREA_EXEC. */
#define PROT_ACCESS 7u
#define PROT_SEM 8u /* has no meaning here, as on all x86 */

_Static_assert((AREA_READ | AREA_WRITE | AREA_EXEC) == PROT_ACCESS, "mman-common.h");

/* madvise(2): hints; only the first changes what a program sees. */
#define MADV_DONTNEED 4
#define MADV_MERGEABLE 12
#define MADV_WIPEONFORK 18

static i64 map(u64 address, u64 length, u64 protection, u32 flags, u64 fd)
{
	u32 area = protection & PROT_ACCESS;
	struct file *file;

	if (protection & ~(u64)(PROT_ACCESS | PROT_SEM))
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		file = file_get(fd);
		if (!file)
			return -EBADF;
		file_put(file);
		return -ENODEV;
	}
	if (!(flags & MAP_SHARED) == !(flags & MAP_PRIVATE))
		return -EINVAL;
	if (flags & MAP_SHARED)
		area |= AREA_SHARED;
	else if (flags & MAP_GROWSDOWN)
		area |= AREA_GROWSDOWN;
	return mm_map(current->mm, address, length, area, flags);
}

i64 sys_mmap(u64 address, u64 length, u64 protection, u64 flags, u64 fd, u64 offset)
{
	if (offset % PAGE_SIZE)
		return -EINVAL;
	return map(address, length, protection, flags, fd);
}

/* A 64-bit program may call it too, by int 0x80: it wants an address that fits. */
i64 compat_mmap2(u64 address, u64 length, u64 protection, u64 flags, u64 fd, u64 page_offset)
{
	if (!current->mm->compat)
		flags |= MAP_32BIT;
	return map(address, length, protection, flags, fd);
}

i64 sys_munmap(u64 address, u64 length)
{
	return mm_unmap(current->mm, address, length);
}

i64 sys_mprotect(u64 address, u64 length, u64 protection)
{
	if (protection & ~(u64)(PROT_ACCESS | PROT_SEM))
		return -EINVAL;
	return mm_protect(current->mm, address, length, protection);
}

i64 sys_brk(u64 end)
{
	return mm_brk(current->mm, end);
}

i64 sys_madvise(u64 address, u64 length, u64 advice)
{
	u32 kind = advice;

	if (address % PAGE_SIZE)
		return -EINVAL;
	if (kind == MADV_DONTNEED)
		return length ? mm_discard(current->mm, address, length) : 0;
	/* Hints on how it will be used, and about huge pages, which there are none of. */
	if (kind < MADV_DONTNEED || (kind >= MADV_MERGEABLE && kind < MADV_WIPEONFORK))
		return 0;
	return -EINVAL;
}
