/*
 * A kernel that gets to READY and, resumed, reports without end that it begins a path: each frame
 * is valid, and it is never done.
 */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	READY
again:	SEND	begin, begin_end
	jmp	again

	.section .rodata
begin:	.ascii	"PM"
	.byte	2, 0                    /* kind: begin */
	.long	2
	.byte	0, 0                    /* run 0, path 0   */
	.long	0x7aaeac18              /* CRC-32 of all bytes above */
begin_end:
