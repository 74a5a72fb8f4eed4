/* A kernel that panics and resets the machine by a triple fault: a reboot loop, if let. */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	PRINT	"Kernel panic - not syncing: fixture"
	lidt	no_idt
	int3

	.section .rodata
no_idt:	.word	0                       /* limit: no vector fits, not even the double fault's */
	.long	0
