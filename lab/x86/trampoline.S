/*
 * Where the other CPUs start, in real mode: smp.c copies this to TRAMPOLINE, a page below 1 MiB,
 * and names the page in the start-up interrupt (Intel SDM volume 3, 9.4). CS holds its segment.
 */
#include "cpu.h"

#define KERNEL_BASE 0xffffffff80000000
#define PHYS(symbol) ((symbol) - KERNEL_BASE)

	.section .rodata
	.code16
	.globl trampoline_start, trampoline_end
trampoline_start:
	cli
	cld
	mov %cs, %ax
	mov %ax, %ds
	lgdtl gdt_pointer - trampoline_start
	mov $CR0_PE, %eax
	mov %eax, %cr0
	ljmpl $0x08, $PHYS(flat_segments)
	.balign 4
gdt_pointer:
	.word 4 * 8 - 1
	.long PHYS(boot_gdt)
trampoline_end:

	.text
	.code32
flat_segments:
	mov $0x18, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	jmp secondary_start

	.section .note.GNU-stack, "", @progbits
