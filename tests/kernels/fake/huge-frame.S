/*
 * A kernel that announces a frame of 4 GiB and never sends it: the length has to be refused before
 * room is made for it. The frame is that of the wire crate.
 */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	SEND	frame, frame_end
	SPIN

	.section .rodata
frame:	.ascii	"PM"                    /* magic */
	.byte	3, 0                    /* kind: outcome */
	.long	0xffffffff              /* bytes of payload */
frame_end:
