/* What tests and programs share: output, random numbers, children, signals, ports. */
#ifndef USER_LIB_H
#define USER_LIB_H

#include "sys.h"

int main(int argc, char **argv, char **envp);
extern unsigned long *auxv; /* pairs, ending in 0 */

void *memcpy(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
char *strstr(const char *text, const char *what);
long parse_number(const char *text);

/* %s %c %d %u %x %lx %lu %ld with width and zero padding, to standard output. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void quit(int code);
/* Ends the program with code 1 after saying where and what. */
_Noreturn void fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define expect(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail(__FILE__, __LINE__, "not so: %s", #condition);                        \
	} while (0)
#define expect_equal(got, wanted)                                                                  \
	do {                                                                                       \
		long got_value = (long)(got), wanted_value = (long)(wanted);                       \
		if (got_value != wanted_value)                                                     \
			fail(__FILE__, __LINE__, "%s is %ld (0x%lx), not %ld", #got, got_value,    \
			     (unsigned long)got_value, wanted_value);                              \
	} while (0)

/* The kernel's command line, with every boot's variants and `test.` words. */
const char *command_line(void);
void read_command_line(void); /* once, before the others */
/* Whether this word is on it. */
int variant_is(const char *word);
/* The number after `word=` on it, or `fallback`. */
long option(const char *word, long fallback);

/* xorshift64*, seeded (Vigna 2016); never 0. */
struct random { uint64_t state; };
uint64_t random_next(struct random *random);
static inline uint64_t random_below(struct random *random, uint64_t limit)
{
	return (random_next(random) >> 11) % limit;
}

void *map_pages(size_t bytes, int flags);
/* wait4's status of the child. */
int wait_for(long pid);
static inline int exited(int status, int code) { return status == code << 8; }
static inline int killed(int status, int signal) { return (status & 0x7f) == signal; }
/* Runs `body` in a child and returns its status. */
int in_child(void (*body)(void *), void *argument);
int pin(unsigned cpu); /* 0 or -errno */
int real_time(int priority);
unsigned cpus(void);   /* how many init may run on: 0 to that */
uint64_t now_ns(void);

static inline uint64_t stamp(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
}

#ifdef __x86_64__
struct context; /* the ucontext of a handler */
typedef void (*signal_handler)(int signal, void *info, struct context *context);
int on_signal(int signal, signal_handler handler);
/* The interrupted program's registers in a handler's context. */
uint64_t *context_rip(struct context *context);

/* Reads a port; 0 if it was allowed, the signal if not. */
int try_port(uint16_t port);
int try_port_word(uint16_t port); /* two bytes at once */
#endif

#endif
