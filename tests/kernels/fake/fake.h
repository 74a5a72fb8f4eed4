/*
 * What the fake kernels share: an ELF64 that QEMU's -kernel takes for a PVH kernel, and output.
 *
 * A fake is one file: `#include "fake.h"`, KERNEL, then code from the first instruction on. It
 * starts in 32-bit protected mode, flat segments, paging and interrupts off, with no stack.
 * Macros clobber EAX, EDX and ESI unless their comment names fewer.
 * Sources: Xen's docs/misc/pvh.pandoc (state at entry), include/public/elfnote.h (the note);
 * National Semiconductor, PC16550D data sheet (the UART's line status register).
 */

#define COM1            0x3f8           /* the console */
#define COM1_STATUS     (COM1 + 5)      /* line status register */
#define TRANSMIT_EMPTY  0x20            /* the next byte may go out */
#define PROTOCOL        0xe9            /* QEMU's isa-debugcon: always ready */
#define PAUSE_PORT      0x505           /* QEMU's pvpanic, told to pause the guest ... */
#define PAUSE           1               /* ... on this: reported as a panic of the guest */

#define PHYS32_ENTRY    18              /* XEN_ELFNOTE_PHYS32_ENTRY */

/* The note that names the entry point, a release to be found in the image, the entry point. */
.macro KERNEL
	.section .note.Xen, "a", @note
	.long 4, 8, PHYS32_ENTRY        /* bytes of name and of entry point, type */
	.asciz "Xen"
	.quad start

	.section .rodata
linux_banner:
	.asciz "Linux version 6.1.0-fake (pathmeter@fixture) #1 SMP\n"

	.text
	.code32
	.globl start
start:
.endm

/* Writes AL to the console once there is room for it. Clobbers AH and EDX. */
.macro CONSOLE_BYTE
	movb	%al, %ah
	movw	$COM1_STATUS, %dx
1:	inb	%dx, %al
	testb	$TRANSMIT_EMPTY, %al
	jz	1b
	movw	$COM1, %dx
	movb	%ah, %al
	outb	%al, %dx
.endm

/* Writes the zero-ended string at a label. */
.macro CONSOLE label
	movl	$\label, %esi
2:	lodsb
	testb	%al, %al
	jz	3f
	CONSOLE_BYTE
	jmp	2b
3:
.endm

/* Writes a string given in place, newline included. */
.macro PRINT text
	.pushsection .rodata
4:	.asciz "\text\n"
	.popsection
	CONSOLE	4b
.endm

/* Sends the bytes between two labels over the protocol port. Clobbers ECX too. */
.macro SEND from, to
	movl	$\from, %esi
	movl	$(\to - \from), %ecx
	movw	$PROTOCOL, %dx
	rep outsb
.endm

/* Sends START and has QEMU pause the guest, as the agent does. Clobbers ECX too. */
.macro START
	.pushsection .rodata
7:	.ascii	"PM"                    /* magic */
	.byte	14, 0                   /* kind: start */
	.long	7                       /* bytes of payload */
	.byte	0x80, 0x80, 0x80, 0x08  /* at 16 MiB is room for the parcel, */
	.byte	0x80, 0x80, 0x40        /* 1 MiB of it */
	.long	0x324add40              /* CRC-32 of all bytes above */
8:
	.popsection
	SEND	7b, 8b
	movw	$PAUSE_PORT, %dx
	movb	$PAUSE, %al
	outb	%al, %dx
.endm

/* Sends that it is under its condition. Clobbers ECX too. */
.macro SEND_READY
	.pushsection .rodata
9:	.ascii	"PM"
	.byte	1, 0                    /* kind: ready */
	.long	1
	.byte	0                       /* an empty text */
	.long	0xbdd4a0e0
10:
	.popsection
	SEND	9b, 10b
.endm

/* Gets to START and, resumed, to READY. Clobbers ECX too. */
.macro READY
	START
	SEND_READY
.endm

/* Reads the protocol port: EFLAGS tell "equal" if only symbols are asked for. */
#define SYMBOLS_ASKED   0x53            /* crates/wire/src/message.rs */
.macro SYMBOLS_ASKED_FOR
	movw	$PROTOCOL, %dx
	inb	%dx, %al
	cmpb	$SYMBOLS_ASKED, %al
.endm

/* Sends that it is done, and has no symbols. Clobbers ECX too. */
.macro NO_SYMBOLS
	.pushsection .rodata
11:	.ascii	"PM"
	.byte	4, 0                    /* kind: done */
	.long	1
	.byte	0                       /* an empty text */
	.long	0xefec8f47
	.ascii	"PM"
	.byte	6, 0                    /* kind: symbols */
	.long	2
	.byte	0, 0                    /* address 0, no bytes */
	.long	0xfee4a2e2
12:
	.popsection
	SEND	11b, 12b
.endm

/* Stops this CPU for good. Clobbers nothing. */
.macro HALT
	cli
5:	hlt
	jmp	5b
.endm

/* Burns this CPU for good, as a lost lock does. Clobbers nothing. */
.macro SPIN
6:	pause
	jmp	6b
.endm
