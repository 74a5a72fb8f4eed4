/*
 * /dev/labdev and /dev/labdev1, two devices of the lab kernel's test driver: an ioctl that copies a
 * structure out, in the form of most drivers' ioctls, and a few more. Each has its own parameters,
 * serial, semaphore and sleepers. Numbers are made as Linux makes them (ioctl.h):
 * direction, size, type, number. The structure has a pointer, so 32-bit programs have another size,
 * and with it another number.
 */
#ifndef LABDEV_UAPI_H
#define LABDEV_UAPI_H

#include <stdint.h>

#define LABDEV_IOC(direction, number, size) ((direction) << 30 | (size) << 16 | 'L' << 8 | (number))
#define LABDEV_NONE 0u
#define LABDEV_WRITE 1u /* the program gives: the kernel copies in */
#define LABDEV_READ 2u  /* the program gets: the kernel copies out */

/* What LABDEV_PARAMS gives and LABDEV_SET takes, for 64-bit and for 32-bit programs. */
struct labdev_params {
	uint64_t buffer; /* a pointer: an address of the program's, kept as it was given */
	uint32_t rate, channels;
	uint32_t serial; /* grows by one with each PARAMS; never 0 */
	uint32_t flags;
};

struct labdev_params32 {
	uint32_t buffer;
	uint32_t rate, channels;
	uint32_t serial;
	uint32_t flags;
};

/* What LABDEV_STATE gives, to both. */
struct labdev_state {
	uint32_t rate;
	uint32_t serial; /* the same as of PARAMS: grows by one with each of the two */
};

_Static_assert(sizeof(struct labdev_params) == 24 && sizeof(struct labdev_state) == 8, "ABI");
_Static_assert(sizeof(struct labdev_params32) == 20, "ABI");

#define LABDEV_PARAMS LABDEV_IOC(LABDEV_READ, 1u, 24u)
#define LABDEV_PARAMS32 LABDEV_IOC(LABDEV_READ, 1u, 20u)
#define LABDEV_SET LABDEV_IOC(LABDEV_WRITE, 2u, 24u)
#define LABDEV_SET32 LABDEV_IOC(LABDEV_WRITE, 2u, 20u)
#define LABDEV_WAIT LABDEV_IOC(LABDEV_NONE, 3u, 0u) /* sleeps until LABDEV_WAKE: 0, or -EINTR */
#define LABDEV_WAKE LABDEV_IOC(LABDEV_NONE, 4u, 0u)
/* Looks at the device as often as the argument asks, as drivers do that wait for theirs by looking:
 * on the CPU, and with whatever locks the call has. 0, or -EINVAL beyond LABDEV_MOST_LOOKS. */
#define LABDEV_POLL LABDEV_IOC(LABDEV_NONE, 5u, 0u)
#define LABDEV_MOST_LOOKS 1000u
/* As PARAMS, of a structure with one layout: what 32-bit programs' calls are measured by. */
#define LABDEV_STATE LABDEV_IOC(LABDEV_READ, 6u, 8u)

/* Numbers for local use of Linux's list. */
#define LABDEV_MAJOR 240 /* minor 0: /dev/labdev, 1: /dev/labdev1 */
/* /dev/labtwin: another driver that has LABDEV_PARAMS, with this rate, and nothing else. */
#define LABTWIN_MAJOR 241
#define LABTWIN_RATE 44100

/*
 * Where 32-bit programs' numbers are looked up in a table: others in the bucket of LABDEV_STATE,
 * since direction and size do not count. Those of `compat-ioctl-collisions`, which mean nothing to
 * the device, the last first in the bucket; and those of a driver that comes and goes, by
 * `test.ioctl-churn` or LAB_COMMANDS, which answer with LABDEV_CHURN_ANSWER while they are there:
 * at once to argument 0, after so many looks to one up to LABDEV_MOST_LOOKS, else after a
 * sleep until they are not there any more.
 */
#define LABDEV_COLLISION(n) LABDEV_IOC(LABDEV_READ, 6u, 64u + (n))
#define LABDEV_CHURN(n) LABDEV_IOC(LABDEV_WRITE, 6u, 64u + (n))
#define LABDEV_CHURNS 8u
#define LABDEV_CHURN_ANSWER 77

#endif
