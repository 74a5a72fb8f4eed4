/*
 * A kernel that gets to READY and pauses its own guest as the agent does; resumed, it says that it
 * begins a path of the first start, and then only nonsense.
 */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	SEND	ready, ready_end
	movw	$PAUSE_PORT, %dx
	movb	$PAUSE, %al
	outb	%al, %dx
	SEND	begin, begin_end
	HALT

	.section .rodata
ready:	.ascii	"PM"                    /* magic */
	.byte	1, 0                    /* kind: ready */
	.long	1                       /* bytes of payload */
	.byte	0                       /* an empty text */
	.long	0xbdd4a0e0              /* CRC-32 of all bytes above */
ready_end:
begin:	.ascii	"PM"
	.byte	2, 0                    /* kind: begin */
	.long	2
	.byte	0, 0                    /* start 0, path 0 */
	.long	0x7aaeac18
	.ascii	"not a frame at all"
begin_end:
