/*
 * The guest's firmware: from reset to the kernel's PVH entry, and nothing else.
 *
 * QEMU's own (qboot) does the same, but each distribution's build of it executes another number of
 * instructions on the way. The kernel then begins at another time by its clock, fills its random
 * pool differently, and lays out memory differently: some paths read a few instructions more or
 * less. With this one every QEMU starts a kernel in the same state.
 *
 * What the kernel is given comes from QEMU's fw_cfg device, by DMA: command line, initramfs, size
 * of memory, entry point. A kernel without a PVH entry is started by QEMU's own firmware instead.
 *
 * In memory, until the kernel reuses it:
 *
 *     0x01000  the DMA command         0x02000  start info, module list, memory map
 *     0x08000  top of the stack        0x02800  numbers read from fw_cfg
 *     0x10000  the command line
 *
 * Sources: QEMU docs/specs/fw_cfg.rst; Xen public/arch-x86/hvm/start_info.h (PVH); Intel SDM vol.
 * 3A 10.1.4 (the first instruction), 10.9.1 (to protected mode); QEMU hw/i386/microvm.c (memory).
 */

/* fw_cfg's items and port. */
.set FW_RAM_SIZE, 0x03
.set FW_INITRD_ADDRESS, 0x0a
.set FW_INITRD_SIZE, 0x0b
.set FW_KERNEL_ENTRY, 0x10
.set FW_INITRD_DATA, 0x12
.set FW_CMDLINE_SIZE, 0x14
.set FW_CMDLINE_DATA, 0x15
.set FW_DMA_HIGH, 0x514			/* address of a command; writing the low half starts it */
.set FW_DMA_LOW, 0x518
.set DMA_READ, 0x02
.set DMA_SELECT, 0x08
.set DMA_ERROR, 0x01

.set DMA, 0x1000			/* control, length, address: big endian, 4 + 4 + 8 bytes */
.set INFO, 0x2000
.set INFO_MODULES, INFO + 0x40
.set INFO_MAP, INFO + 0x80
.set INFO_BYTES, 0x200
.set NUMBERS, 0x2800
.set CMDLINE_SIZE, NUMBERS
.set INITRD_ADDRESS, NUMBERS + 0x04
.set INITRD_SIZE, NUMBERS + 0x08
.set ENTRY, NUMBERS + 0x0c
.set RAM_SIZE, NUMBERS + 0x10		/* 8 bytes */
.set STACK, 0x8000
.set CMDLINE, 0x10000

/* PVH, version 1. */
.set PVH_MAGIC, 0x336ec578
.set MAP_RAM, 1
.set MAP_RESERVED, 2
.set MAP_ENTRY, 24			/* address, size: 8 bytes each; type, reserved: 4 each */

/* Where memory lies: below 640 KiB, less the last KiB, from 1 MiB to 3 GiB, and the rest from 4
 * GiB. */
.set LOW_END, 0x9fc00
.set HIGH_START, 0x100000
.set HIGH_END, 0xc0000000

.text
.globl _start
_start:
.code16
	cli
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
	movl	$STACK, %esp
	cld
	xorl	%eax, %eax
	movl	$INFO, %edi
	movl	$INFO_BYTES / 4, %ecx
	rep stosl

.macro read item, to, bytes
	movl	$\item, %eax
	movl	$\to, %edi
	movl	\bytes, %ecx
	call	read_item
.endm
	read	FW_CMDLINE_SIZE, CMDLINE_SIZE, $4
	read	FW_CMDLINE_DATA, CMDLINE, CMDLINE_SIZE
	read	FW_INITRD_ADDRESS, INITRD_ADDRESS, $4
	read	FW_INITRD_SIZE, INITRD_SIZE, $4
	read	FW_RAM_SIZE, RAM_SIZE, $8
	read	FW_KERNEL_ENTRY, ENTRY, $4

	movl	$PVH_MAGIC, INFO
	movl	$1, INFO + 4		/* version */
	movl	$CMDLINE, INFO + 24
	movl	$INFO_MAP, INFO + 40
	call	load_initrd
	call	map_memory
	movl	$INFO, %ebx
	jmp	*ENTRY

/* The initramfs, if there is one, as the only module. */
load_initrd:
	movl	INITRD_SIZE, %ecx
	testl	%ecx, %ecx
	jz	1f
	movl	$FW_INITRD_DATA, %eax
	movl	INITRD_ADDRESS, %edi
	call	read_item
	movl	$1, INFO + 12
	movl	$INFO_MODULES, INFO + 16
	movl	INITRD_ADDRESS, %eax
	movl	%eax, INFO_MODULES
	movl	INITRD_SIZE, %eax
	movl	%eax, INFO_MODULES + 8
1:	ret

/* The memory map; its unused fields are zero. */
map_memory:
	movl	$LOW_END, INFO_MAP + 8
	movl	$MAP_RAM, INFO_MAP + 16
	movl	$LOW_END, INFO_MAP + MAP_ENTRY
	movl	$HIGH_START - LOW_END, INFO_MAP + MAP_ENTRY + 8
	movl	$MAP_RESERVED, INFO_MAP + MAP_ENTRY + 16
	movl	$3, INFO + 48		/* entries */
	movl	RAM_SIZE, %eax
	movl	RAM_SIZE + 4, %edx
	testl	%edx, %edx
	jnz	1f
	cmpl	$HIGH_END, %eax
	jbe	2f
1:	subl	$HIGH_END, %eax		/* what lies above 4 GiB */
	sbbl	$0, %edx
	movl	$1, INFO_MAP + 3 * MAP_ENTRY + 4
	movl	%eax, INFO_MAP + 3 * MAP_ENTRY + 8
	movl	%edx, INFO_MAP + 3 * MAP_ENTRY + 12
	movl	$MAP_RAM, INFO_MAP + 3 * MAP_ENTRY + 16
	movl	$4, INFO + 48
	movl	$HIGH_END, %eax
2:	subl	$HIGH_START, %eax
	movl	$HIGH_START, INFO_MAP + 2 * MAP_ENTRY
	movl	%eax, INFO_MAP + 2 * MAP_ENTRY + 8
	movl	$MAP_RAM, INFO_MAP + 2 * MAP_ENTRY + 16
	ret

/* Reads %ecx bytes of item %eax to %edi. QEMU does it before the next instruction. */
read_item:
	shll	$16, %eax
	orl	$DMA_SELECT | DMA_READ, %eax
	bswapl	%eax
	movl	%eax, DMA
	bswapl	%ecx
	movl	%ecx, DMA + 4
	movl	$0, DMA + 8
	bswapl	%edi
	movl	%edi, DMA + 12
	xorl	%eax, %eax
	movw	$FW_DMA_HIGH, %dx
	outl	%eax, %dx
	movl	$DMA, %eax
	bswapl	%eax
	movw	$FW_DMA_LOW, %dx
	outl	%eax, %dx
	cmpl	$0, DMA			/* all bits are clear once it is done, without an error */
	jne	fail
	ret

/* A fault that nothing handles resets the machine, which ends QEMU at once. */
fail:
	lidt	no_handlers
	int3
no_handlers:
	.word	0
	.long	0

/* Where the processor begins: 16 bytes below 4 GiB, the same as 16 bytes below 1 MiB. */
.org 0xfff0
.code16
	ljmpw	$0xf000, $0
.org 0x10000
