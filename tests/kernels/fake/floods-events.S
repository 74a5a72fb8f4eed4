/*
 * A kernel that gets to READY and, resumed, makes QEMU report a crash to the host without end.
 */
#include "fake.h"

#define CRASH_LOADED    2               /* pvpanic: a crash kernel takes over */

KERNEL
	CONSOLE	linux_banner
	READY
	movw	$PAUSE_PORT, %dx
	movb	$CRASH_LOADED, %al
again:	outb	%al, %dx
	jmp	again
