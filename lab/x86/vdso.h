/*
 * What the kernel and the code that it gives to programs agree on: the getcpu images in vdso/, the
 * page of data that they read, and the 32-bit system call page.
 */
#ifndef LAB_VDSO_H
#define LAB_VDSO_H

/* The data page follows the image's only page. */
#define VDSO_TICKS 0        /* u64: counter of ticks, never 0 */
#define VDSO_CPU_VALUES 64  /* u32[256]: number by initial APIC id */
#define VDSO_MODE 1088      /* u32: getcpu-mode=on, which way; the values are those of 2006 */
#define VDSO_MODE_RDTSCP 1
#define VDSO_MODE_LSL 2
#define VDSO_IMAGE_SIZE 4096

/* getcpu=: what a register holds for the number 0, and how many numbers fit. */
#define GETCPU_IDT_LIMIT 0x1000
#define GETCPU_GDT_LIMIT 0x7f
#define GETCPU_LDT_INDEX 16
#define GETCPU_SIDT_ROOM (0x10000 - GETCPU_IDT_LIMIT)
#define GETCPU_LSL_ROOM (1 << 20)
#define GETCPU_SGDT_ROOM 2048
#define GETCPU_SLDT_ROOM 256

/*
 * 32-bit programs call through AT_SYSINFO into a page at a fixed address, where 2.6's vsyscall page
 * was. On entry to the kernel by either instruction the program's ebp, the sixth argument, lies at
 * 0(%esp).
 *
 * syscall: ebp = second argument (the instruction overwrites ecx); it returns to its next
 * instruction. sysenter: ebp = esp, edx at 4(%esp) and ecx at 8(%esp); ecx and edx hold arguments
 * still; the kernel must return to VSYSCALL32_RETURN with esp = that ebp, whatever sysexit does to
 * ecx and edx: they are popped there.
 */
#define VSYSCALL32_PAGE 0xffffe000
#define VSYSCALL32_RETURN (VSYSCALL32_PAGE + 7) /* right after sysenter */
/* Where signal handlers of programs without SA_RESTORER return to. */
#define VSYSCALL32_SIGRETURN (VSYSCALL32_PAGE + 0x40)
#define VSYSCALL32_RT_SIGRETURN (VSYSCALL32_PAGE + 0x60)

#define VSYSCALL32_SIZE 0x80

#ifndef __ASSEMBLER__
#include "../kernel/types.h"

/* vdso.c: the number of the CPU with that APIC id, for getcpu=cpuid. */
void vdso_set_cpu_value(u32 apic_id, u32 value);
#endif

#endif
