/*
 * A kernel that gets to READY and, resumed, pauses its own guest once more, before the agent would.
 */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	READY
	movw	$PAUSE_PORT, %dx
	movb	$PAUSE, %al
	outb	%al, %dx
	HALT
