/*
 * Bounds of user memory, and where faults in usercopy.S go on. See usercopy.h for the contract.
 *
 * What is checked: the whole range lies below USER_TOP. What is there, and whether the program may
 * touch it, the page tables know.
 */
#include "usercopy.h"
#include "../kernel/mm.h"
#include "../kernel/syscall.h"

/* usercopy.S */
u64 user_copy(void *to, const void *from, u64 count);
u64 user_clear(u64 to, u64 count);
i64 user_copy_string(char *to, u64 from, u64 size);
int user_get_8(u8 *to, u64 from);
int user_get_32(u32 *to, u64 from);
int user_get_64(u64 *to, u64 from);
int user_put_8(u64 to, u8 value);
int user_put_32(u64 to, u32 value);
int user_put_64(u64 to, u64 value);
int user_cmpxchg_32(u64 at, u32 *expected, u32 value);

/* kernel.lds */
extern const struct fixup fixups_start[], fixups_end[];

/* Nothing here overflows, whatever a program passes. */
static inline bool in_user_space(u64 address, u64 count)
{
	return likely(count <= USER_TOP && address <= USER_TOP - count);
}

u64 copy_to_user(u64 to, const void *from, u64 count)
{
	return in_user_space(to, count) ? user_copy((void *)to, from, count) : count;
}

u64 copy_from_user(void *to, u64 from, u64 count)
{
	return in_user_space(from, count) ? user_copy(to, (const void *)from, count) : count;
}

u64 clear_user(u64 to, u64 count)
{
	return in_user_space(to, count) ? user_clear(to, count) : count;
}

i64 copy_string_from_user(char *to, u64 from, u64 size)
{
	u64 room = from < USER_TOP ? min(size, USER_TOP - from) : 0;
	i64 length = user_copy_string(to, from, room);

	if (length < 0 || (u64)length < room)
		return length;
	return room < size ? -EFAULT : -ENAMETOOLONG;
}

int get_user_u8(u8 *to, u64 from)
{
	return in_user_space(from, sizeof(*to)) ? user_get_8(to, from) : -EFAULT;
}

int get_user_u32(u32 *to, u64 from)
{
	return in_user_space(from, sizeof(*to)) ? user_get_32(to, from) : -EFAULT;
}

int get_user_u64(u64 *to, u64 from)
{
	return in_user_space(from, sizeof(*to)) ? user_get_64(to, from) : -EFAULT;
}

int put_user_u8(u64 to, u8 value)
{
	return in_user_space(to, sizeof(value)) ? user_put_8(to, value) : -EFAULT;
}

int put_user_u32(u64 to, u32 value)
{
	return in_user_space(to, sizeof(value)) ? user_put_32(to, value) : -EFAULT;
}

int put_user_u64(u64 to, u64 value)
{
	return in_user_space(to, sizeof(value)) ? user_put_64(to, value) : -EFAULT;
}

int cmpxchg_user_u32(u64 at, u32 *expected, u32 value)
{
	return in_user_space(at, sizeof(value)) ? user_cmpxchg_32(at, expected, value) : -EFAULT;
}

u64 fixup_find(u64 address)
{
	for (const struct fixup *fixup = fixups_start; fixup < fixups_end; fixup++)
		if (fixup->fault == address)
			return fixup->resume;
	return 0;
}
