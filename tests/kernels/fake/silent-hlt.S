/* A kernel that stops at its first instruction: no output, no host time used. */
#include "fake.h"

KERNEL
	HALT
