/*
 * A kernel that gets to READY and, resumed, begins the first path and its windows as a probe does;
 * the first window that is sampled never ends. If only symbols are asked for it is done at once,
 * and has none.
 */
#include "fake.h"

#define SYMBOLS_ASKED   0x53            /* read from the port: crates/wire/src/message.rs */
#define WARMUP          3               /* windows before the first that is sampled */

/* A marker (crates/probes/src/arch/x86_64/stamp.rs): 1 begins a window, 2 ends it, 3 a path. */
.macro MARK kind
	.byte	0x0f, 0x1f, 0x84, 0x00, 0x00, \kind, 0x4d, 0x50
.endm

KERNEL
	CONSOLE	linux_banner
	READY

	movw	$PROTOCOL, %dx
	inb	%dx, %al
	cmpb	$SYMBOLS_ASKED, %al
	je	only_symbols

	SEND	begin, begin_end
	MARK	3
	movb	0x1000, %al             /* an address whose low 12 bits are the path's index */
	movl	$WARMUP, %ecx
warm:	MARK	1
	MARK	2
	decl	%ecx
	jnz	warm
	MARK	1
forever:
	.fill	120, 1, 0x90
	jmp	forever

only_symbols:
	SEND	done, done_end
	HALT

	.section .rodata
begin:	.ascii	"PM"
	.byte	2, 0                    /* kind: begin */
	.long	2
	.byte	0, 0                    /* run 0, path 0   */
	.long	0x7aaeac18              /* CRC-32 of all bytes above */
begin_end:
done:	.ascii	"PM"
	.byte	4, 0                    /* kind: done */
	.long	1
	.byte	0                       /* an empty text */
	.long	0xefec8f47
	.ascii	"PM"
	.byte	6, 0                    /* kind: symbols */
	.long	2
	.byte	0, 0                    /* address 0, no bytes */
	.long	0xfee4a2e2
done_end:
