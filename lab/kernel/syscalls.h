/*
 * The handlers of all system calls, by Linux's names; syscall.c has the tables of their numbers.
 *
 * Every argument is a whole register. A handler that takes an int or an unsigned int uses the lower
 * half only: what a 64-bit program leaves in the upper half has no meaning, and the entries of
 * 32-bit programs hand over zeroes there, negative numbers included. Pointers are user addresses.
 *
 * compat_NAME serves 32-bit programs where they lay out memory or arguments in another way.
 */
#ifndef LAB_SYSCALLS_H
#define LAB_SYSCALLS_H

#include "types.h"

i64 sys_nosys(void); /* -ENOSYS: all numbers without a handler */

/* Files: sys_file.c, sys_path.c */
i64 sys_read(u64 fd, u64 buffer, u64 count);
i64 sys_write(u64 fd, u64 buffer, u64 count);
i64 sys_open(u64 path, u64 flags, u64 mode);
i64 sys_openat(u64 folder, u64 path, u64 flags, u64 mode);
i64 sys_close(u64 fd);
i64 sys_stat(u64 path, u64 out);
i64 sys_fstat(u64 fd, u64 out);
i64 sys_lstat(u64 path, u64 out);
i64 sys_newfstatat(u64 folder, u64 path, u64 out, u64 flags);
i64 sys_lseek(u64 fd, u64 offset, u64 whence);
i64 sys_pread64(u64 fd, u64 buffer, u64 count, u64 offset);
i64 sys_pwrite64(u64 fd, u64 buffer, u64 count, u64 offset);
i64 sys_readv(u64 fd, u64 vector, u64 count);
i64 sys_writev(u64 fd, u64 vector, u64 count);
i64 sys_ioctl(u64 fd, u64 command, u64 argument);    /* ioctl.c */
i64 compat_ioctl(u64 fd, u64 command, u64 argument); /* ioctl.c */
i64 sys_pipe(u64 ends);
i64 sys_pipe2(u64 ends, u64 flags);
i64 sys_dup(u64 fd);
i64 sys_dup2(u64 from, u64 to);
i64 sys_fcntl(u64 fd, u64 command, u64 argument);
i64 sys_access(u64 path, u64 mode);
i64 sys_mkdir(u64 path, u64 mode);
i64 sys_mknod(u64 path, u64 mode, u64 device);
i64 sys_mount(u64 source, u64 target, u64 kind, u64 flags, u64 data);
i64 sys_getcwd(u64 buffer, u64 size);
i64 sys_readlink(u64 path, u64 buffer, u64 size);
i64 sys_unlink(u64 path);
i64 sys_getdents64(u64 fd, u64 buffer, u64 size);

/* Memory: sys_memory.c */
i64 sys_mmap(u64 address, u64 length, u64 protection, u64 flags, u64 fd, u64 offset);
i64 compat_mmap2(u64 address, u64 length, u64 protection, u64 flags, u64 fd, u64 page_offset);
i64 sys_munmap(u64 address, u64 length);
i64 sys_mprotect(u64 address, u64 length, u64 protection);
i64 sys_brk(u64 end);
i64 sys_madvise(u64 address, u64 length, u64 advice);

/* I/O ports and CPU numbers: iobitmap.c, vdso.c */
i64 sys_ioperm(u64 from, u64 count, u64 on);
i64 sys_iopl(u64 level);
i64 sys_getcpu(u64 cpu, u64 node, u64 cache);

/* Processes: task.c, exit.c, exec.c */
i64 sys_fork(void);
i64 sys_vfork(void);
i64 sys_clone(u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls);
i64 compat_clone(u64 flags, u64 stack, u64 parent_tid, u64 tls, u64 child_tid);
i64 sys_execve(u64 path, u64 argv, u64 envp);
i64 sys_exit(u64 code);
i64 sys_exit_group(u64 code);
i64 sys_wait4(u64 pid, u64 status, u64 options, u64 usage);
i64 sys_waitpid(u64 pid, u64 status, u64 options);

/* Bases and TLS: processor_state.c */
i64 sys_arch_prctl(u64 option, u64 value);
i64 compat_set_thread_area(u64 descriptor);

/* Signals: sys_signal.c; returns: sigframe.c, sigframe_compat.c */
i64 sys_kill(u64 pid, u64 signal);
i64 sys_tkill(u64 tid, u64 signal);
i64 sys_tgkill(u64 tgid, u64 tid, u64 signal);
i64 sys_rt_sigaction(u64 signal, u64 action, u64 old, u64 set_size);
i64 sys_rt_sigprocmask(u64 how, u64 set, u64 old, u64 set_size);
i64 sys_rt_sigpending(u64 set, u64 set_size);
i64 sys_rt_sigsuspend(u64 set, u64 set_size);
i64 sys_rt_sigreturn(void);
i64 sys_sigaltstack(u64 stack, u64 old);
i64 sys_pause(void);
i64 compat_signal(u64 signal, u64 handler);
i64 compat_sigaction(u64 signal, u64 action, u64 old);
i64 compat_rt_sigaction(u64 signal, u64 action, u64 old, u64 set_size);
i64 compat_sigaltstack(u64 stack, u64 old);
i64 compat_sigreturn(void);
i64 compat_rt_sigreturn(void);

/* Threads: futex.c */
i64 sys_futex(u64 address, u64 operation, u64 value, u64 timeout, u64 address2, u64 value3);
i64 compat_futex(u64 address, u64 operation, u64 value, u64 timeout, u64 address2, u64 value3);

/* Time: sys_time.c */
i64 sys_nanosleep(u64 duration, u64 remaining);
i64 sys_clock_nanosleep(u64 clock, u64 flags, u64 duration, u64 remaining);
i64 sys_clock_gettime(u64 clock, u64 out);
i64 sys_clock_getres(u64 clock, u64 out);
i64 sys_gettimeofday(u64 time, u64 zone);
i64 sys_time(u64 out);
i64 sys_alarm(u64 seconds);
i64 sys_setitimer(u64 which, u64 value, u64 old);
i64 sys_getitimer(u64 which, u64 value);
i64 compat_nanosleep(u64 duration, u64 remaining);
i64 compat_clock_gettime(u64 clock, u64 out);
i64 compat_clock_getres(u64 clock, u64 out);
i64 compat_gettimeofday(u64 time, u64 zone);
i64 compat_time(u64 out);
i64 compat_setitimer(u64 which, u64 value, u64 old);

/* User and group ids, limits, and what is left: sys_task.c */
i64 sys_getpid(void);
i64 sys_getppid(void);
i64 sys_gettid(void);
i64 sys_getpgid(u64 pid);
i64 sys_setpgid(u64 pid, u64 pgid);
i64 sys_getpgrp(void);
i64 sys_setsid(void);
i64 sys_getuid(void); /* all user and group numbers: 0 */
i64 sys_umask(u64 mask);
i64 sys_uname(u64 out);
i64 sys_sysinfo(u64 out);
i64 sys_getrusage(u64 who, u64 out);
i64 sys_times(u64 out);
i64 sys_getrlimit(u64 resource, u64 out);
i64 sys_setrlimit(u64 resource, u64 limits);
i64 sys_prlimit64(u64 pid, u64 resource, u64 limits, u64 old);
i64 sys_prctl(u64 option, u64 value, u64 value3, u64 value4, u64 value5);
i64 sys_set_tid_address(u64 address);
i64 sys_set_robust_list(u64 head, u64 size);
i64 sys_personality(u64 persona);

/* Scheduling: sys_sched.c */
i64 sys_sched_yield(void);
i64 sys_sched_setscheduler(u64 pid, u64 policy, u64 parameter);
i64 sys_sched_getscheduler(u64 pid);
i64 sys_sched_setparam(u64 pid, u64 parameter);
i64 sys_sched_getparam(u64 pid, u64 parameter);
i64 sys_sched_get_priority_max(u64 policy);
i64 sys_sched_get_priority_min(u64 policy);
i64 sys_sched_setaffinity(u64 pid, u64 size, u64 mask);
i64 sys_sched_getaffinity(u64 pid, u64 size, u64 mask);

/* What is left: sys_task.c */
i64 sys_getrandom(u64 buffer, u64 count, u64 flags);
i64 sys_reboot(u64 magic, u64 magic2, u64 command, u64 argument);
i64 sys_socket(void); /* the whole family: -EAFNOSUPPORT */
i64 sys_lab(u64 command, u64 argument);

/* Other layouts of no subject above: compat.c */
i64 compat_execve(u64 path, u64 argv, u64 envp);
i64 compat_wait4(u64 pid, u64 status, u64 options, u64 usage);
i64 compat_lseek(u64 fd, u64 offset, u64 whence);
i64 compat_mmap(u64 arguments);
i64 compat_getrusage(u64 who, u64 out);
i64 compat_getrlimit(u64 resource, u64 out);
i64 compat_setrlimit(u64 resource, u64 limits);

#endif
