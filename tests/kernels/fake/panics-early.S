/* A kernel that panics before it has a user, and halts, as Linux does without panic=-1. */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	PRINT	"Kernel panic - not syncing: fixture"
	HALT
