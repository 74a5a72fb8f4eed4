/*
 * Reading and writing a user program's memory: bounds are checked, faults that can't be served end
 * the copy. With SMAP, only these functions may touch user memory (stac … clac).
 *
 * The faulting instructions are listed in section .fixups (address, where to go on); trap.c looks
 * there before it calls a fault in the kernel a bug.
 */
#ifndef LAB_USERCOPY_H
#define LAB_USERCOPY_H

#include "../kernel/types.h"

struct fixup {
	u64 fault, resume;
};

/* Bytes that could not be copied: 0 is success. `copy_to_user` and `copy_from_user` refuse ranges
 * that leave user space. */
u64 copy_to_user(u64 to, const void *from, u64 count);
u64 copy_from_user(void *to, u64 from, u64 count);
u64 clear_user(u64 to, u64 count);
/* Bytes copied before the NUL, or -EFAULT, or -ENAMETOOLONG if `size` bytes held no NUL. */
i64 copy_string_from_user(char *to, u64 from, u64 size);
/* 0 or -EFAULT. */
int get_user_u8(u8 *to, u64 from);
int get_user_u32(u32 *to, u64 from);
int get_user_u64(u64 *to, u64 from);
int put_user_u8(u64 to, u8 value);
int put_user_u32(u64 to, u32 value);
int put_user_u64(u64 to, u64 value);
/* Compare and exchange of a u32, for futexes; 0 or -EFAULT. */
int cmpxchg_user_u32(u64 at, u32 *expected, u32 value);

/* Where to go on after a kernel fault at `address`; 0 if it is a bug. */
u64 fixup_find(u64 address);

#endif
