/* A kernel that says hello and then spins for ever. */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	SPIN
