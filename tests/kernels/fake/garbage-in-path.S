/*
 * A kernel that gets to READY and, resumed, says that it begins a path of the first start, and then
 * only nonsense.
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
	.byte	0, 0                    /* start 0, path 0 */
	.long	0x7aaeac18              /* CRC-32 of all bytes above */
	.ascii	"not a frame at all"
begin_end:
