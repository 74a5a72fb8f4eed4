/*
 * A kernel that has an oops and panics, with flags that no processor can have: as one died in QEMU
 * 7.2 (docs/explanation/exactness.md).
 */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	PRINT	"RIP: 0010:__kmalloc_noprof+0x1b7/0x490"
	PRINT	"RSP: 0018:ffffc90000013e10 EFLAGS: 04268a42"
	PRINT	"Kernel panic - not syncing: fixture"
	HALT
