/* A kernel that prints a greeting and then spins for ever. */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	SPIN
