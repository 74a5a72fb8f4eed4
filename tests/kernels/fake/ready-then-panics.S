/*
 * A kernel that gets to READY, pauses its own guest as the agent does, and panics once resumed:
 * what fails is then a run, not the start-up.
 */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	READY
	PRINT	"Kernel panic - not syncing: fixture"
	HALT
