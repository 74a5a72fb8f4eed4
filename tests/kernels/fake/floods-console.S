/* A kernel that never stops talking: the log kept of it needs a bound. */
#include "fake.h"

KERNEL
again:	CONSOLE	linux_banner
	jmp	again
