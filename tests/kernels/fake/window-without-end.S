/*
 * A kernel that gets to READY and, resumed, begins the first path and its windows as a probe does;
 * the first window that is sampled never ends. If only symbols are asked for it is done at once,
 * and has none.
 */
#include "fake.h"

#define WARMUP          3               /* windows before the first that is sampled */

/* A marker (crates/probes/src/arch/x86_64/stamp.rs): 1 begins a window, 2 ends it, 3 a path. */
.macro MARK kind
	.byte	0x0f, 0x1f, 0x84, 0x00, 0x00, \kind, 0x4d, 0x50
.endm

KERNEL
	CONSOLE	linux_banner
	READY

	SYMBOLS_ASKED_FOR
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
	NO_SYMBOLS
	HALT

	.section .rodata
begin:	.ascii	"PM"
	.byte	2, 0                    /* kind: begin */
	.long	2
	.byte	0, 0                    /* run 0, path 0   */
	.long	0x7aaeac18              /* CRC-32 of all bytes above */
begin_end:
