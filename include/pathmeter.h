/*
 * Marks regions of a program that `pathmeter run` measures, and states what it expects of itself.
 *
 *	#include "pathmeter.h"
 *
 *	for (int i = 0; i < 100; i++) {
 *		pathmeter_begin("fstat");
 *		int result = fstat(fd, &status);
 *		pathmeter_end("fstat");
 *		pathmeter_expect(result == 0);
 *	}
 *
 *	pathmeter run KERNEL -- ./program
 *
 * The result has a row `user.fstat`: what was executed from begin to end, in instructions, each
 * time. An expectation that failed makes the run fail, with its text. Outside pathmeter's guest
 * each of these calls is a nop and one load, so the program may keep them.
 *
 * Names have 1 to 63 bytes of [A-Za-z0-9._+-]. Begin and end come in pairs of one name in one
 * thread. Put expectations outside of regions: inside, they are counted too. The compiler moves no
 * access to memory into a region or out of it; computations in registers it may move.
 *
 * C99 and C++11, gcc and clang, x86-64 and i386. On other architectures the functions do nothing.
 * docs/own-programs.md has the rest. MIT OR Apache-2.0, as pathmeter is.
 */
#ifndef PATHMETER_H
#define PATHMETER_H

/*
 * A marker is a nopl 0x504d..00(%rax,%rax,1), in which the second byte is the kind of marker, and
 * the instruction after it reads the first byte of a string. Both have the same bytes on i386.
 */
#if (defined(__x86_64__) && !defined(__ILP32__)) || defined(__i386__)
#define PATHMETER_MARK(kind, string) \
	__asm__ __volatile__(".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, " kind ", 0x4d, 0x50\n\t" \
			     "testb $0, (%0)" : : "r"(string) : "memory", "cc")
#else
#define PATHMETER_MARK(kind, string) ((void)(string))
#endif

/* Inlined without optimisation too, so that a region holds no call that is not the program's. */
#define PATHMETER_INLINE __attribute__((always_inline)) static inline

/* The region `name` begins after this. */
PATHMETER_INLINE void pathmeter_begin(const char *name)
{
	PATHMETER_MARK("0x06", name);
}

/* The region `name` ends before this. */
PATHMETER_INLINE void pathmeter_end(const char *name)
{
	PATHMETER_MARK("0x07", name);
}

/* States whether what `text` says holds; returns that. Programs use pathmeter_expect(). */
PATHMETER_INLINE int pathmeter_state(int holds, const char *text)
{
	if (holds)
		PATHMETER_MARK("0x08", text);
	else
		PATHMETER_MARK("0x09", text);
	return holds;
}

/* Expects that a condition holds; 1 if it does, else 0. It is evaluated once, in any program. */
#define pathmeter_expect(condition) pathmeter_state((condition) ? 1 : 0, #condition)

#ifdef __cplusplus
/* A region from here to the end of the scope: pathmeter_region region("name"); */
struct pathmeter_region {
	explicit pathmeter_region(const char *its_name) : name(its_name) { pathmeter_begin(name); }
	pathmeter_region(const pathmeter_region &) = delete;
	~pathmeter_region() { pathmeter_end(name); }
	const char *const name;
};
#endif

#endif
