/*
 * What a plugin writes, through a buffer: a reserve() comes before what is put.
 */
#ifndef PLUGIN_STREAM_H
#define PLUGIN_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/linkage.h"

enum { BUFFER = 1 << 16, LONGEST_NUMBER = 10 };	/* bytes */

struct stream {
	int fd;
	size_t filled;
	uint64_t written;		/* bytes, without those in the buffer */
	uint8_t buffer[BUFFER];
};
extern HIDDEN struct stream out;

/* A reader that went away gets nothing more; the host decides what becomes of that. */
void flush(void);

/* Sees to it that `length` bytes fit. */
static inline void reserve(size_t length)
{
	if (out.filled + length > BUFFER)
		flush();
}

static inline void put(uint8_t byte)
{
	out.buffer[out.filled++] = byte;
}

static inline void put_bytes(const void *bytes, size_t length)
{
	memcpy(out.buffer + out.filled, bytes, length);
	out.filled += length;
}

static inline void put_unsigned(uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(value | 0x80);
	put(value);
}

static inline void put_signed(int64_t value)
{
	put_unsigned(((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static inline void put_word(uint64_t value)
{
	put_bytes(&value, sizeof(value));
}

#endif
