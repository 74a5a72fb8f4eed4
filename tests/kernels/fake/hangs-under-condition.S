/*
 * A kernel that gets to START and, resumed with its condition, spins for ever. If only symbols are
 * asked for it is done at once, and has none.
 */
#include "fake.h"

#define SYMBOLS_ASKED   0x53            /* read from the port: crates/wire/src/message.rs */

KERNEL
	CONSOLE	linux_banner
	START

	movw	$PROTOCOL, %dx
	inb	%dx, %al
	cmpb	$SYMBOLS_ASKED, %al
	je	only_symbols
	SPIN

only_symbols:
	SEND	done, done_end
	HALT

	.section .rodata
done:	.ascii	"PM"
	.byte	1, 0                    /* kind: ready */
	.long	1
	.byte	0                       /* an empty text */
	.long	0xbdd4a0e0              /* CRC-32 of all bytes above */
	.ascii	"PM"
	.byte	4, 0                    /* kind: done */
	.long	1
	.byte	0
	.long	0xefec8f47
	.ascii	"PM"
	.byte	6, 0                    /* kind: symbols */
	.long	2
	.byte	0, 0                    /* address 0, no bytes */
	.long	0xfee4a2e2
done_end:
