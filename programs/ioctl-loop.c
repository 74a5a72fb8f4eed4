/*
 * ioctl-loop: the same ioctl again and again, by a 64-bit program or by a 32-bit one.
 *
 * From: Michael S. Tsirkin and Andi Kleen, linux-kernel, 7 September 2004: "Re: [discuss] f_ops
 * flag to speed up compatible ioctls in linux kernel" (pathmeter experiment compat-ioctl-2004).
 * There a driver's ioctl is called in a loop by both kinds of programs, and its system time is
 * compared. The driver is not public; here a socket is asked for the loopback interface's index,
 * which copies a structure as well.
 *
 *	cc -O2 -nostdlib -static -fno-stack-protector -I../include -o ioctl-loop64 ioctl-loop.c
 *	cc -m32 -O2 -nostdlib -static -fno-stack-protector -I../include -o ioctl-loop32 ioctl-loop.c
 *	pathmeter run KERNEL -- ./ioctl-loop64
 *	pathmeter run KERNEL -- ./ioctl-loop32
 *
 * Region: ioctl, one call; by `syscall` with 64 bits, by `int 0x80` with 32. Both programs are
 * without libc, so that one source is enough and neither needs a 32-bit libc to build.
 */
#include "pathmeter.h"
#include "times.h"

enum { CALLS = 100, TIMED_CALLS = 10000 };
enum { AF_INET = 2, SOCK_DGRAM = 2, SIOCGIFINDEX = 0x8933 };
enum { POISON = -1 };

/* struct ifreq of <linux/if.h>, which has room for more with 64 bits. */
struct request {
	char name[16];
	int index;
	char rest[20];
};

#ifdef __i386__

/* <asm/unistd_32.h>. Sockets by socketcall(2), the only way before Linux 4.3. */
enum { NR_EXIT = 1, NR_WRITE = 4, NR_IOCTL = 54, NR_SOCKETCALL = 102, NR_CLOCK_GETTIME = 265 };
enum { SYS_SOCKET = 1 };

__asm__(".globl _start\n"
	"_start:\n"
	"	and $-16, %esp\n"
	"	call run\n");

static inline long call(long number, long first, long second, long third)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result)
			 : "a"(number), "b"(first), "c"(second), "d"(third) : "memory");
	return result;
}

static int udp_socket(void)
{
	unsigned long arguments[] = { AF_INET, SOCK_DGRAM, 0 };

	return call(NR_SOCKETCALL, SYS_SOCKET, (long)arguments, 0);
}

#else

/* <asm/unistd_64.h> */
enum { NR_EXIT = 60, NR_WRITE = 1, NR_CLOCK_GETTIME = 228, NR_IOCTL = 16, NR_SOCKET = 41 };

__asm__(".globl _start\n"
	"_start:\n"
	"	and $-16, %rsp\n"
	"	call run\n");

static inline long call(long number, long first, long second, long third)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(first), "S"(second), "d"(third)
			 : "rcx", "r11", "memory");
	return result;
}

static int udp_socket(void)
{
	return call(NR_SOCKET, AF_INET, SOCK_DGRAM, 0);
}

#endif

#ifdef PRINT_TIMES

static unsigned long times_clock(void)
{
	enum { MONOTONIC = 1 };
	long time[2];

	call(NR_CLOCK_GETTIME, MONOTONIC, (long)time, 0);
	return time[0] * 1000000000ul + time[1];
}

static void say(const char *text, long length)
{
	call(NR_WRITE, 1, (long)text, length);
}

/* Writes a number of tenths. */
static void say_tenths(unsigned long tenths)
{
	char digits[24], *at = digits + sizeof(digits);

	*--at = '0' + tenths % 10;
	*--at = '.';
	do
		*--at = '0' + (tenths /= 10) % 10;
	while (tenths >= 10);
	say(at, digits + sizeof(digits) - at);
}

static void times_line(const char *name, unsigned long tenths, unsigned long tenths_of_ticks)
{
	long length = 0;

	while (name[length])
		length++;
	say(name, length);
	say(" ", 1);
	say_tenths(tenths);
	say(" ns ", 4);
	say_tenths(tenths_of_ticks);
	say(" ticks\n", 7);
}

#endif

/* Whether each call returned the interface's index. */
static int measure(int fd)
{
	struct request request = { .name = "lo" };
	int good = 1;

	for (int i = 0; i < CALLS; i++) {
		long result;

		request.index = POISON;
		pathmeter_begin("ioctl");
		result = call(NR_IOCTL, fd, SIOCGIFINDEX, (long)&request);
		pathmeter_end("ioctl");
		good &= pathmeter_expect(result == 0 && request.index > 0);
	}
	TIMES("ioctl", TIMED_CALLS, call(NR_IOCTL, fd, SIOCGIFINDEX, (long)&request));
	return good;
}

__attribute__((noreturn, used)) static void run(void)
{
	int good = measure(udp_socket());

	for (;;)
		call(NR_EXIT, !good, 0, 0);
}
