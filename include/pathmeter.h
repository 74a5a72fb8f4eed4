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
 * time. If an expectation does not hold, the row is `failed`, and states it. Outside pathmeter's
 * guest each of these calls is a nop and two loads, so the program may keep them.
 *
 * Names have 1 to 63 bytes of [A-Za-z0-9._+-]. Begin and end come in pairs of one name in one
 * thread. Put an expectation after the end of its region: inside, it is counted. The compiler moves
 * no access to memory into a region or out of it; computations in registers it may move.
 *
 * C99 and C++11, gcc and clang, x86-64 and i386. On other architectures the functions do nothing.
 * docs/guide/own-programs.md has the rest. MIT OR Apache-2.0, as pathmeter is.
 */
#ifndef PATHMETER_H
#define PATHMETER_H

/*
 * A mark is a marker, a nopl 0x504d..00(%rax,%rax,1) in which the second byte is its kind, and two
 * instructions that read the first byte of a string and the NUL that ends it: the string may lie in
 * two pages. All have the same bytes on i386.
 */
#if (defined(__x86_64__) && !defined(__ILP32__)) || defined(__i386__)
#define PATHMETER_MARK(kind, string, length) \
	__asm__ __volatile__(".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, " kind ", 0x4d, 0x50\n\t" \
			     "testb $0, (%0)\n\ttestb $0, (%1)" \
			     : : "r"(string), "r"((string) + (length)) : "memory", "cc")
#else
#define PATHMETER_MARK(kind, string, length) ((void)(string), (void)(length))
#endif

/* Inlined without optimisation too, so that a region holds no call that is not the program's. */
#define PATHMETER_INLINE __attribute__((always_inline)) static inline

PATHMETER_INLINE void pathmeter_mark_begin(const char *name, unsigned long length)
{
	PATHMETER_MARK("0x06", name, length);
}

PATHMETER_INLINE void pathmeter_mark_end(const char *name, unsigned long length)
{
	PATHMETER_MARK("0x07", name, length);
}

PATHMETER_INLINE int pathmeter_state(int holds, const char *text, unsigned long length)
{
	if (holds)
		PATHMETER_MARK("0x08", text, length);
	else
		PATHMETER_MARK("0x09", text, length);
	return holds;
}

/* The region `name`, a string literal, begins after this. */
#define pathmeter_begin(name) pathmeter_mark_begin("" name, sizeof("" name) - 1)

/* The region `name` ends before this. */
#define pathmeter_end(name) pathmeter_mark_end("" name, sizeof("" name) - 1)

/*
 * Expects that a condition holds of the region that is open, or else of the one that ended last in
 * this thread; 1 if it does, else 0. The condition is evaluated once, in any program.
 */
#define pathmeter_expect(condition) \
	pathmeter_state((condition) ? 1 : 0, #condition, sizeof(#condition) - 1)

#ifdef __cplusplus
/* A region from here to the end of the scope: pathmeter_region region("name"); */
class pathmeter_region {
public:
	template <unsigned long Size>
	explicit pathmeter_region(const char (&its_name)[Size]) : name(its_name), length(Size - 1)
	{
		pathmeter_mark_begin(name, length);
	}
	pathmeter_region(const pathmeter_region &) = delete;
	~pathmeter_region() { pathmeter_mark_end(name, length); }

private:
	const char *const name;
	const unsigned long length;
};
#endif

#endif
