/*
 * The two tables of system calls: from number to handler.
 *
 * Numbers: Linux arch/x86/entry/syscalls/syscall_64.tbl and syscall_32.tbl. Only what is named here
 * exists; every other number, and every one past the end, is -ENOSYS.
 */
#include "syscall.h"
#include "syscalls.h"

#include "../uapi/lab.h"

i64 sys_nosys(void)
{
	return -ENOSYS;
}

/* By way of a type that may become any function: handlers take as many arguments as they need, and
 * in the C convention of x86-64 those that are passed over them do no harm. */
#define HANDLER(function) ((syscall_handler)(void (*)(void))(function))

/* Later entries overwrite the first, which fills the table. */
#pragma GCC diagnostic ignored "-Woverride-init"

const syscall_handler syscall_table[SYSCALLS] = {
	[0 ... SYSCALLS - 1] = HANDLER(sys_nosys),
	[0] = HANDLER(sys_read),
	[1] = HANDLER(sys_write),
	[2] = HANDLER(sys_open),
	[3] = HANDLER(sys_close),
	[4] = HANDLER(sys_stat),
	[5] = HANDLER(sys_fstat),
	[6] = HANDLER(sys_lstat),
	[8] = HANDLER(sys_lseek),
	[9] = HANDLER(sys_mmap),
	[10] = HANDLER(sys_mprotect),
	[11] = HANDLER(sys_munmap),
	[12] = HANDLER(sys_brk),
	[13] = HANDLER(sys_rt_sigaction),
	[14] = HANDLER(sys_rt_sigprocmask),
	[15] = HANDLER(sys_rt_sigreturn),
	[16] = HANDLER(sys_ioctl),
	[17] = HANDLER(sys_pread64),
	[18] = HANDLER(sys_pwrite64),
	[19] = HANDLER(sys_readv),
	[20] = HANDLER(sys_writev),
	[21] = HANDLER(sys_access),
	[22] = HANDLER(sys_pipe),
	[24] = HANDLER(sys_sched_yield),
	[28] = HANDLER(sys_madvise),
	[32] = HANDLER(sys_dup),
	[33] = HANDLER(sys_dup2),
	[34] = HANDLER(sys_pause),
	[35] = HANDLER(sys_nanosleep),
	[36] = HANDLER(sys_getitimer),
	[37] = HANDLER(sys_alarm),
	[38] = HANDLER(sys_setitimer),
	[39] = HANDLER(sys_getpid),
	[41] = HANDLER(sys_socket),
	[42] = HANDLER(sys_socket), /* connect */
	[43] = HANDLER(sys_socket), /* accept */
	[44] = HANDLER(sys_socket), /* sendto */
	[45] = HANDLER(sys_socket), /* recvfrom */
	[49] = HANDLER(sys_socket), /* bind */
	[50] = HANDLER(sys_socket), /* listen */
	[51] = HANDLER(sys_socket), /* getsockname */
	[53] = HANDLER(sys_socket), /* socketpair */
	[54] = HANDLER(sys_socket), /* setsockopt */
	[56] = HANDLER(sys_clone),
	[57] = HANDLER(sys_fork),
	[58] = HANDLER(sys_vfork),
	[59] = HANDLER(sys_execve),
	[60] = HANDLER(sys_exit),
	[61] = HANDLER(sys_wait4),
	[62] = HANDLER(sys_kill),
	[63] = HANDLER(sys_uname),
	[72] = HANDLER(sys_fcntl),
	[79] = HANDLER(sys_getcwd),
	[83] = HANDLER(sys_mkdir),
	[87] = HANDLER(sys_unlink),
	[89] = HANDLER(sys_readlink),
	[95] = HANDLER(sys_umask),
	[96] = HANDLER(sys_gettimeofday),
	[97] = HANDLER(sys_getrlimit),
	[98] = HANDLER(sys_getrusage),
	[99] = HANDLER(sys_sysinfo),
	[100] = HANDLER(sys_times),
	[102] = HANDLER(sys_getuid),
	[104] = HANDLER(sys_getuid), /* getgid */
	[107] = HANDLER(sys_getuid), /* geteuid */
	[108] = HANDLER(sys_getuid), /* getegid */
	[109] = HANDLER(sys_setpgid),
	[110] = HANDLER(sys_getppid),
	[111] = HANDLER(sys_getpgrp),
	[112] = HANDLER(sys_setsid),
	[121] = HANDLER(sys_getpgid),
	[127] = HANDLER(sys_rt_sigpending),
	[130] = HANDLER(sys_rt_sigsuspend),
	[131] = HANDLER(sys_sigaltstack),
	[133] = HANDLER(sys_mknod),
	[135] = HANDLER(sys_personality),
	[142] = HANDLER(sys_sched_setparam),
	[143] = HANDLER(sys_sched_getparam),
	[144] = HANDLER(sys_sched_setscheduler),
	[145] = HANDLER(sys_sched_getscheduler),
	[146] = HANDLER(sys_sched_get_priority_max),
	[147] = HANDLER(sys_sched_get_priority_min),
	[157] = HANDLER(sys_prctl),
	[158] = HANDLER(sys_arch_prctl),
	[160] = HANDLER(sys_setrlimit),
	[165] = HANDLER(sys_mount),
	[169] = HANDLER(sys_reboot),
	[172] = HANDLER(sys_iopl),
	[173] = HANDLER(sys_ioperm),
	[186] = HANDLER(sys_gettid),
	[200] = HANDLER(sys_tkill),
	[201] = HANDLER(sys_time),
	[202] = HANDLER(sys_futex),
	[203] = HANDLER(sys_sched_setaffinity),
	[204] = HANDLER(sys_sched_getaffinity),
	[217] = HANDLER(sys_getdents64),
	[218] = HANDLER(sys_set_tid_address),
	[228] = HANDLER(sys_clock_gettime),
	[229] = HANDLER(sys_clock_getres),
	[230] = HANDLER(sys_clock_nanosleep),
	[231] = HANDLER(sys_exit_group),
	[234] = HANDLER(sys_tgkill),
	[257] = HANDLER(sys_openat),
	[262] = HANDLER(sys_newfstatat),
	[273] = HANDLER(sys_set_robust_list),
	[293] = HANDLER(sys_pipe2),
	[302] = HANDLER(sys_prlimit64),
	[309] = HANDLER(sys_getcpu),
	[318] = HANDLER(sys_getrandom),
	[SYS_LAB] = HANDLER(sys_lab),
};

const syscall_handler syscall_table_compat[SYSCALLS_COMPAT] = {
	[0 ... SYSCALLS_COMPAT - 1] = HANDLER(sys_nosys),
	[1] = HANDLER(sys_exit),
	[2] = HANDLER(sys_fork),
	[3] = HANDLER(sys_read),
	[4] = HANDLER(sys_write),
	[5] = HANDLER(sys_open),
	[6] = HANDLER(sys_close),
	[7] = HANDLER(sys_waitpid),
	[10] = HANDLER(sys_unlink),
	[11] = HANDLER(compat_execve),
	[13] = HANDLER(compat_time),
	[14] = HANDLER(sys_mknod),
	[19] = HANDLER(compat_lseek),
	[20] = HANDLER(sys_getpid),
	[24] = HANDLER(sys_getuid),
	[27] = HANDLER(sys_alarm),
	[29] = HANDLER(sys_pause),
	[33] = HANDLER(sys_access),
	[37] = HANDLER(sys_kill),
	[39] = HANDLER(sys_mkdir),
	[41] = HANDLER(sys_dup),
	[42] = HANDLER(sys_pipe),
	[45] = HANDLER(sys_brk),
	[47] = HANDLER(sys_getuid), /* getgid */
	[48] = HANDLER(compat_signal),
	[49] = HANDLER(sys_getuid), /* geteuid */
	[50] = HANDLER(sys_getuid), /* getegid */
	[54] = HANDLER(compat_ioctl),
	[55] = HANDLER(sys_fcntl),
	[57] = HANDLER(sys_setpgid),
	[60] = HANDLER(sys_umask),
	[63] = HANDLER(sys_dup2),
	[64] = HANDLER(sys_getppid),
	[65] = HANDLER(sys_getpgrp),
	[66] = HANDLER(sys_setsid),
	[67] = HANDLER(compat_sigaction),
	[75] = HANDLER(compat_setrlimit),
	[76] = HANDLER(compat_getrlimit),
	[77] = HANDLER(compat_getrusage),
	[78] = HANDLER(compat_gettimeofday),
	[85] = HANDLER(sys_readlink),
	[88] = HANDLER(sys_reboot),
	[90] = HANDLER(compat_mmap),
	[91] = HANDLER(sys_munmap),
	[101] = HANDLER(sys_ioperm),
	[102] = HANDLER(sys_socket), /* socketcall */
	[104] = HANDLER(compat_setitimer),
	[110] = HANDLER(sys_iopl),
	[114] = HANDLER(compat_wait4),
	[119] = HANDLER(compat_sigreturn),
	[120] = HANDLER(compat_clone),
	[122] = HANDLER(sys_uname),
	[125] = HANDLER(sys_mprotect),
	[132] = HANDLER(sys_getpgid),
	[136] = HANDLER(sys_personality),
	[154] = HANDLER(sys_sched_setparam),
	[155] = HANDLER(sys_sched_getparam),
	[156] = HANDLER(sys_sched_setscheduler),
	[157] = HANDLER(sys_sched_getscheduler),
	[158] = HANDLER(sys_sched_yield),
	[159] = HANDLER(sys_sched_get_priority_max),
	[160] = HANDLER(sys_sched_get_priority_min),
	[162] = HANDLER(compat_nanosleep),
	[172] = HANDLER(sys_prctl),
	[173] = HANDLER(compat_rt_sigreturn),
	[174] = HANDLER(compat_rt_sigaction),
	[175] = HANDLER(sys_rt_sigprocmask),
	[176] = HANDLER(sys_rt_sigpending),
	[179] = HANDLER(sys_rt_sigsuspend),
	[183] = HANDLER(sys_getcwd),
	[186] = HANDLER(compat_sigaltstack),
	[190] = HANDLER(sys_vfork),
	[191] = HANDLER(compat_getrlimit), /* ugetrlimit */
	[192] = HANDLER(compat_mmap2),
	[199] = HANDLER(sys_getuid),
	[200] = HANDLER(sys_getuid), /* getgid32 */
	[201] = HANDLER(sys_getuid), /* geteuid32 */
	[202] = HANDLER(sys_getuid), /* getegid32 */
	[219] = HANDLER(sys_madvise),
	[220] = HANDLER(sys_getdents64),
	[221] = HANDLER(sys_fcntl), /* fcntl64 */
	[224] = HANDLER(sys_gettid),
	[238] = HANDLER(sys_tkill),
	[240] = HANDLER(compat_futex),
	[241] = HANDLER(sys_sched_setaffinity), /* little endian: the same bytes */
	[243] = HANDLER(compat_set_thread_area),
	[252] = HANDLER(sys_exit_group),
	[258] = HANDLER(sys_set_tid_address),
	[265] = HANDLER(compat_clock_gettime),
	[266] = HANDLER(compat_clock_getres),
	[270] = HANDLER(sys_tgkill),
	[295] = HANDLER(sys_openat),
	[311] = HANDLER(sys_set_robust_list),
	[318] = HANDLER(sys_getcpu),
	[331] = HANDLER(sys_pipe2),
	[340] = HANDLER(sys_prlimit64),
	[355] = HANDLER(sys_getrandom),
	[403] = HANDLER(sys_clock_gettime), /* clock_gettime64 */
	[SYS_LAB] = HANDLER(sys_lab),
};
