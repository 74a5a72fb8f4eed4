/*
 * What the tests of ioctl share: the two ways to call, the variants that matter to them, the
 * devices. Static buffers lie below 4 GiB, as int 0x80 needs them.
 */
#ifndef LAB_USER_IOCTLS_H
#define LAB_USER_IOCTLS_H

#include "../uapi/lab.h"
#include "../uapi/labdev.h"
#include "tests.h"

#define SYS_IOCTL_32 54

static inline long int80(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(number), "b"(a), "c"(b), "d"(c)
			 : "r8", "r9", "r10", "r11", "memory");
	return result;
}

static inline long native(long fd, uint32_t command, const volatile void *argument)
{
	return sys(SYS_ioctl, fd, command, argument);
}

static inline long compat(long fd, uint32_t command, const volatile void *argument)
{
	return int80(SYS_IOCTL_32, fd, command, (long)argument);
}

typedef long (*ioctl_way)(long fd, uint32_t command, const volatile void *argument);

static inline int native_is_locked(void)
{
	return variant_is(" ioctl=bkl") || !memcmp(command_line(), "ioctl=bkl", 9);
}

static inline int table_is_used(void)
{
	return strstr(command_line(), "compat-ioctl=hash-") != NULL;
}

static inline long open_named(const char *name, int flags)
{
	long fd = sys(SYS_open, name, flags, 0);

	expect(fd >= 0);
	return fd;
}

static inline long open_device(int flags)
{
	return open_named("/dev/labdev", flags);
}

/* LABDEV_WAIT's result, with a signal each millisecond: the first may come before it sleeps. */
long wait_under_alarms(ioctl_way way, long fd);

#endif
