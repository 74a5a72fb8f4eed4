/*
 * Segments, task state and gates. The GDT has Linux's order, which serves syscall, sysret, sysenter
 * and sysexit alike, and gives programs the selectors that they know.
 *
 *   1 kernel code 32   2 kernel code 64   3 kernel data
 *   4 user code 32     5 user data        6 user code 64
 *   8-9 TSS            12-14 TLS of 32-bit programs      15 CPU and node number (limit, for lsl)
 */
#ifndef LAB_DESC_H
#define LAB_DESC_H

#define GDT_ENTRIES 16
#define GDT_SPARE 257 /* empty ones after them: for getcpu=sgdt's limits and getcpu=sldt's LDTs */
#define GDT_TSS 8
#define GDT_TLS 12
#define GDT_CPUNODE 15

#define KERNEL_CS 0x10
#define KERNEL_DS 0x18
#define USER_CS32 0x23
#define USER_DS 0x2b
#define USER_CS 0x33
#define TSS_SELECTOR 0x40

#define IST_NMI 1
#define IST_DOUBLE_FAULT 2
#define IST_MACHINE_CHECK 3
#define IST_DEBUG 4

#define VECTOR_SYSCALL 0x80
#define VECTOR_TIMER 0xec
#define VECTOR_RESCHEDULE 0xfd
#define VECTOR_FLUSH_TLB 0xfc
#define VECTOR_STOP 0xfb
#define VECTOR_TEST 0xfa     /* the device that tests raise */
#define VECTOR_NETWORK 0x30  /* the network card; of the lowest priority */
#define VECTOR_SPURIOUS 0xff

#ifndef __ASSEMBLER__
#include "../kernel/types.h"

#define IO_BITMAP_BITS 65536
#define IO_BITMAP_BYTES (IO_BITMAP_BITS / 8)

/*
 * Intel SDM volume 3, 8.7 (64-bit TSS) and volume 1, 19.5.2 (bitmap, with the byte of ones after
 * it). Two bitmaps: a task's own, and one that allows everything, for iopl as Linux 5.5 does it.
 */
struct tss {
	u32 reserved0;
	u64 rsp[3];
	u64 reserved1;
	u64 ist[7];
	u64 reserved2;
	u16 reserved3;
	u16 io_bitmap_base; /* offset from the TSS's start; past the limit: no port is allowed */
	u8 io_bitmap[IO_BITMAP_BYTES + 8];
} __attribute__((packed, aligned(64)));

_Static_assert(offsetof(struct tss, io_bitmap_base) == 0x66, "Intel SDM");
_Static_assert(offsetof(struct tss, io_bitmap) == 0x68, "Intel SDM");

#define TSS_IO_BITMAP_VALID offsetof(struct tss, io_bitmap)
/* The byte after the bitmap is included. */
#define TSS_LIMIT (offsetof(struct tss, io_bitmap) + IO_BITMAP_BYTES)
#define TSS_IO_BITMAP_INVALID 0xffff

struct percpu;
/* Loads this CPU's GDT, TSS and the IDT (all CPUs share one, unless getcpu=sidt needs limits). */
void desc_init_cpu(struct percpu *cpu);
void idt_init(void);
/* Sets the limit of this CPU's CPUNODE segment, or of its IDT. */
void desc_set_cpunode(struct percpu *cpu, u32 value);
void desc_set_idt_limit(u16 limit);
/* Sets TLS entry 0..2 of this CPU's GDT. */
void desc_set_tls(struct percpu *cpu, unsigned index, u64 descriptor);
#endif

#endif
