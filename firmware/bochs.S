/*
 * From reset to the kernel's PVH entry in Bochs, whose memory holds all that a kernel is given
 * before the processor executes its first instruction (crates/witness/src/bochs/memory.rs).
 *
 * Bochs has memory of its own for each 128 KiB of the machine's only once they are accessed, and
 * takes it from one array in the order of the first accesses. It loads a file into that array in
 * one piece. So a file longer than that is where it belongs only if the accesses come in the order
 * of the addresses, before any others: they are the first thing that is done here.
 *
 * Sources: Intel SDM vol. 3A 10.1.4 (the first instruction), 10.9.1 (to protected mode); Bochs
 * memory/misc_mem.cc (load_RAM, allocate_block).
 */

.set INFO, 0x2000
.set ENTRY, 0x2800
.set HIGH_START, 0x2804
.set HIGH_END, 0x2808
.set ACCESS_EVERY, 0x10000
.set FAST_A20, 0x92			/* a port; bit 1 lets addresses have odd MiB */

.text
.globl _start
_start:
.code16
	cli
	inb	$FAST_A20, %al
	orb	$2, %al
	outb	%al, $FAST_A20
	lgdtl	%cs:gdt_pointer - _start
	movl	%cr0, %eax
	orb	$1, %al
	movl	%eax, %cr0
	ljmpl	$8, $protected

.balign 8
gdt:
	.quad	0
	.quad	0x00cf9b000000ffff	/* 8: code, flat, 32 bits */
	.quad	0x00cf93000000ffff	/* 16: data, the same */
gdt_pointer:
	.word	. - gdt - 1
	.long	gdt

.code32
protected:
	movl	$16, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	cld
	movl	HIGH_START, %esi
1:	movb	(%esi), %al
	addl	$ACCESS_EVERY, %esi
	cmpl	HIGH_END, %esi
	jb	1b
	movl	$INFO, %ebx
	jmp	*ENTRY

/* Where the processor begins: 16 bytes below 4 GiB, the same as 16 bytes below 1 MiB. */
.org 0xfff0
.code16
	ljmpw	$0xf000, $0
.org 0x10000
