/*
 * A kernel that gets to READY and, resumed, reports that it begins a path of the first run, and
 * then sends only nonsense.
 */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	READY
	SEND	begin, begin_end
	HALT

	.section .rodata
begin:	.ascii	"PM"
	.byte	2, 0                    /* kind: begin */
	.long	2
	.byte	0, 0                    /* run 0, path 0   */
	.long	0x7aaeac18              /* CRC-32 of all bytes above */
	.ascii	"not a frame at all"
begin_end:
