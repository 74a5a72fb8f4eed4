/*
 * Copies and comparisons. Under QEMU's exact clock a `rep` instruction counts one for each turn, so
 * copies go by words; a byte loop would count, and take, eight times as much.
 */
#include "types.h"

void *memcpy(void *to, const void *from, size_t count)
{
	void *d = to;
	size_t words = count / 8, rest = count % 8;

	__asm__ volatile("rep movsq" : "+D"(d), "+S"(from), "+c"(words)::"memory");
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(rest)::"memory");
	return to;
}

static void copy_backwards(u8 *to, const u8 *from, size_t count)
{
	to += count - 1;
	from += count - 1;
	__asm__ volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(count)::"memory");
}

void *memmove(void *to, const void *from, size_t count)
{
	if ((u64)to - (u64)from >= count)
		return memcpy(to, from, count);
	copy_backwards(to, from, count);
	return to;
}

void *memset(void *to, int value, size_t count)
{
	void *d = to;
	size_t words = count / 8, rest = count % 8;
	u64 pattern = (u8)value * 0x0101010101010101ul;

	__asm__ volatile("rep stosq" : "+D"(d), "+c"(words) : "a"(pattern) : "memory");
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(rest) : "a"(pattern) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t count)
{
	const u8 *x = a, *y = b;

	for (; count; count--, x++, y++) {
		if (*x != *y)
			return *x - *y;
	}
	return 0;
}

size_t strlen(const char *text)
{
	const char *end = text;

	while (*end)
		end++;
	return end - text;
}

int strncmp(const char *a, const char *b, size_t count)
{
	for (; count; count--, a++, b++) {
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	}
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}
