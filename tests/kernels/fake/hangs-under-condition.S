/*
 * A kernel that gets to START and, resumed with its condition, spins for ever. If only symbols are
 * asked for it is done at once, and has none.
 */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	START
	SYMBOLS_ASKED_FOR
	je	only_symbols
	SPIN

only_symbols:
	SEND_READY
	NO_SYMBOLS
	HALT
