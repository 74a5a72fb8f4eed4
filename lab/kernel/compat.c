/* System calls of 32-bit programs whose arguments have another layout, of no other
 * file's subject. */
#include "../x86/usercopy.h"
#include "page.h"
#include "process.h"
#include "syscall.h"
#include "syscalls.h"

#define RLIM_INFINITY_32 (~0u)

i64 compat_lseek(u64 fd, u64 offset, u64 whence)
{
	return sys_lseek(fd, (i64)(i32)offset, whence);
}

/* The old call: its six arguments lie in memory, the offset is in bytes. */
i64 compat_mmap(u64 arguments)
{
	u32 a[6];

	if (copy_from_user(a, arguments, sizeof(a)))
		return -EFAULT;
	if (a[5] % PAGE_SIZE)
		return -EINVAL;
	return compat_mmap2(a[0], a[1], a[2], a[3], a[4], a[5] / PAGE_SIZE);
}

i64 compat_getrlimit(u64 resource, u64 out)
{
	struct limits limits = limits_get(resource);
	u32 narrow[2] = {
		min(limits.soft, (u64)RLIM_INFINITY_32), min(limits.hard, (u64)RLIM_INFINITY_32),
	};

	return copy_to_user(out, narrow, sizeof(narrow)) ? -EFAULT : 0;
}

i64 compat_setrlimit(u64 resource, u64 limits)
{
	u32 narrow[2];
	struct limits wide;

	if (copy_from_user(narrow, limits, sizeof(narrow)))
		return -EFAULT;
	wide.soft = narrow[0] == RLIM_INFINITY_32 ? ~0ul : narrow[0];
	wide.hard = narrow[1] == RLIM_INFINITY_32 ? ~0ul : narrow[1];
	return limits_set(resource, wide);
}
