/*
 * A kernel that gets to READY, pauses its own guest as the agent does, and panics once resumed:
 * what fails is then a run, not the start-up. The frame is that of the wire crate.
 */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	SEND	frame, frame_end
	movw	$PAUSE_PORT, %dx
	movb	$PAUSE, %al
	outb	%al, %dx
	SAY	"Kernel panic - not syncing: fixture"
	HALT

	.section .rodata
frame:	.ascii	"PM"                    /* magic */
	.byte	1, 0                    /* kind: ready */
	.long	1                       /* bytes of payload */
	.byte	0                       /* an empty text */
	.long	0xbdd4a0e0              /* CRC-32 of all bytes above */
frame_end:
