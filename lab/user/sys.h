/*
 * Linux system calls for programs without libc; they run on the lab kernel and on Linux alike.
 * Results are as the kernel gives them: a value, or a negative errno.
 */
#ifndef USER_SYS_H
#define USER_SYS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
enum {
	SYS_read = 0, SYS_write = 1, SYS_open = 2, SYS_close = 3, SYS_mmap = 9, SYS_mprotect = 10,
	SYS_munmap = 11, SYS_brk = 12, SYS_rt_sigaction = 13, SYS_rt_sigprocmask = 14,
	SYS_ioctl = 16, SYS_pipe = 22,
	SYS_sched_yield = 24, SYS_dup2 = 33, SYS_nanosleep = 35, SYS_alarm = 37, SYS_setitimer = 38,
	SYS_getpid = 39, SYS_clone = 56, SYS_fork = 57, SYS_execve = 59, SYS_exit = 60,
	SYS_wait4 = 61, SYS_kill = 62, SYS_unlink = 87, SYS_getrusage = 98, SYS_setpgid = 109,
	SYS_getppid = 110, SYS_mknod = 133,
	SYS_sigaltstack = 131, SYS_sched_setscheduler = 144, SYS_prctl = 157, SYS_arch_prctl = 158,
	SYS_reboot = 169, SYS_iopl = 172, SYS_ioperm = 173, SYS_gettid = 186, SYS_futex = 202,
	SYS_sched_setaffinity = 203, SYS_sched_getaffinity = 204, SYS_clock_gettime = 228,
	SYS_exit_group = 231, SYS_tgkill = 234, SYS_getcpu = 309,
};

static inline long syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#else
enum {
	SYS_exit = 1, SYS_fork = 2, SYS_read = 3, SYS_write = 4, SYS_open = 5, SYS_close = 6,
	SYS_getpid = 20, SYS_kill = 37, SYS_pipe = 42, SYS_signal = 48, SYS_ioctl = 54,
	SYS_getppid = 64,
	SYS_munmap = 91, SYS_wait4 = 114, SYS_getrusage = 77, SYS_ioperm = 101, SYS_iopl = 110,
	SYS_sched_setscheduler = 156, SYS_sched_yield = 158, SYS_nanosleep = 162,
	SYS_sigaltstack = 186, SYS_mmap2 = 192, SYS_sched_setaffinity = 241, SYS_exit_group = 252,
};

static inline long syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	(void)f;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return result;
}
#endif

#define SYSCALL_ARGUMENTS(number, a, b, c, d, e, f, ...)                                           \
	syscall6(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* sys(SYS_read, fd, buffer, count): up to six arguments, the rest 0. */
#define sys(...) SYSCALL_ARGUMENTS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 0x10
#define MAP_ANONYMOUS 0x20
#define MAP_32BIT 0x40
#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SIGILL 4
#define SIGTRAP 5
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SA_SIGINFO 4
#define SA_RESTORER 0x04000000
#define EPERM 1
#define EINTR 4
#define ENXIO 6
#define EBADF 9
#define ECHILD 10
#define EAGAIN 11
#define ENOMEM 12
#define ENODEV 19
#define EFAULT 14
#define ENOEXEC 8
#define ENOENT 2
#define EBUSY 16
#define EINVAL 22
#define ENOTTY 25
#define EPIPE 32
#define ENOSYS 38

#endif
