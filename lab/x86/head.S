/*
 * The first instructions: from 32-bit protected mode without paging to C in the kernel's half.
 *
 * The boot CPU comes by way of the PVH entry (Xen, docs/misc/pvh.pandoc): EBX holds the physical
 * address of the start info, segments are flat. The others come from trampoline.S. All use the page
 * tables below, which map the first 4 GiB at 0 and at PHYS_BASE, and the first GiB at KERNEL_BASE,
 * without any protection; paging.c makes the real ones.
 */
#include "cpu.h"
#include "desc.h"
#include "percpu.h"

#define KERNEL_BASE 0xffffffff80000000
#define PHYS(symbol) ((symbol) - KERNEL_BASE)

#define XEN_ELFNOTE_PHYS32_ENTRY 18

	.section .note.Xen, "a", @note
	.balign 4
	.long 4, 8, XEN_ELFNOTE_PHYS32_ENTRY
	.asciz "Xen"
	.quad PHYS(pvh_start)

	.text
	.code32
	.globl pvh_start
pvh_start:
	cli
	cld
	xor %ebp, %ebp
	jmp enter_long_mode

/* In: EBP nonzero, flat segments of boot_gdt. */
	.globl secondary_start
secondary_start:
	mov $1, %ebp

enter_long_mode:
	lgdt PHYS(boot_gdt_pointer)
	mov $CR4_PAE, %eax
	mov %eax, %cr4
	mov $PHYS(boot_pml4), %eax
	mov %eax, %cr3
	mov $MSR_EFER, %ecx
	rdmsr
	or $EFER_LME, %eax
	wrmsr
	mov $(CR0_PG | CR0_WP | CR0_NE | CR0_ET | CR0_PE), %eax
	mov %eax, %cr0
	ljmp $KERNEL_CS, $PHYS(1f)

	.code64
1:	mov $2f, %rax
	jmp *%rax
2:	mov $KERNEL_DS, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	xor %eax, %eax
	mov %eax, %fs
	mov %eax, %gs
	test %ebp, %ebp
	jnz secondary

	mov $boot_stack_top, %rsp
	mov %ebx, %edi
	xor %ebp, %ebp
	call kernel_main
	ud2

/* Numbers are given in the order of arrival. A CPU too many sleeps for ever. */
secondary:
	mov $1, %eax
	lock xadd %eax, secondary_next(%rip)
	cmp $MAX_CPUS, %eax
	jae 3f
	mov secondary_stacks(, %rax, 8), %rsp
	mov %eax, %edi
	xor %ebp, %ebp
	call smp_secondary_main
3:	cli
	hlt
	jmp 3b

	.section .rodata
	.balign 8
	.globl boot_gdt
boot_gdt:
	.quad 0
	.quad 0x00cf9b000000ffff /* code, 32 bits */
	.quad 0x00af9b000000ffff /* code, 64 bits */
	.quad 0x00cf93000000ffff /* data */
boot_gdt_pointer:
	.word boot_gdt_pointer - boot_gdt - 1
	.long PHYS(boot_gdt)

	.bss
	.balign 4096
	.globl boot_stack_top
	.skip 0x4000 /* KSTACK_SIZE */
boot_stack_top:

	.data
	.balign 4
secondary_next:
	.long 1

#define TABLE 0x03 /* present, writable */
#define LARGE 0x83 /* the same, 2 MiB */

	.balign 4096
boot_pml4:
	.quad PHYS(boot_pdpt) + TABLE
	.skip 272 * 8
	.quad PHYS(boot_pdpt) + TABLE /* PHYS_BASE */
	.skip 237 * 8
	.quad PHYS(boot_pdpt_image) + TABLE /* KERNEL_BASE */
boot_pdpt:
	.quad PHYS(boot_pd) + TABLE
	.quad PHYS(boot_pd) + 0x1000 + TABLE
	.quad PHYS(boot_pd) + 0x2000 + TABLE
	.quad PHYS(boot_pd) + 0x3000 + TABLE
	.skip 508 * 8
boot_pdpt_image:
	.skip 510 * 8
	.quad PHYS(boot_pd) + TABLE
	.skip 8
boot_pd:
	.set page, 0
	.rept 4 * 512
	.quad (page << 21) + LARGE
	.set page, page + 1
	.endr

	.section .note.GNU-stack, "", @progbits
