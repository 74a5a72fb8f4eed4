/* See lib.h. */
#include "lib.h"

#include <stdarg.h>

unsigned long *auxv;

_Noreturn void start_c(unsigned long *stack)
{
	int argc = (int)stack[0];
	char **argv = (char **)(stack + 1);
	char **envp = argv + argc + 1;
	char **end = envp;

	while (*end)
		end++;
	auxv = (unsigned long *)(end + 1);
	quit(main(argc, argv, envp));
}

void *memcpy(void *to, const void *from, size_t count)
{
	void *start = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count)::"memory");
	return start;
}

void *memset(void *to, int value, size_t count)
{
	void *start = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory");
	return start;
}

int memcmp(const void *a, const void *b, size_t count)
{
	const volatile unsigned char *x = a, *y = b;

	for (size_t i = 0; i < count; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}

size_t strlen(const char *text)
{
	const volatile char *end = text;

	while (*end)
		end++;
	return (size_t)(end - text);
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (unsigned char)*a - (unsigned char)*b;
}

char *strstr(const char *text, const char *what)
{
	size_t length = strlen(what);

	for (; *text; text++)
		if (strlen(text) >= length && !memcmp(text, what, length))
			return (char *)text;
	return NULL;
}

long parse_number(const char *text)
{
	long value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (*text++ - '0');
	return value;
}

struct output {
	char text[512];
	size_t length;
};

static void put(struct output *out, char c)
{
	if (out->length < sizeof(out->text))
		out->text[out->length++] = c;
}

static void put_number(struct output *out, unsigned long value, unsigned base, int width, char pad)
{
	char digits[24];
	int count = 0;

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	for (int i = count; i < width; i++)
		put(out, pad);
	while (count)
		put(out, digits[--count]);
}

static void format_to(struct output *out, const char *format, va_list arguments)
{
	for (; *format; format++) {
		char pad = ' ';
		int width = 0, is_long = 0;

		if (*format != '%') {
			put(out, *format);
			continue;
		}
		if (*++format == '0')
			pad = '0';
		while (*format >= '0' && *format <= '9')
			width = width * 10 + (*format++ - '0');
		while (*format == 'l')
			is_long = 1, format++;
		if (*format == 's') {
			const char *text = va_arg(arguments, const char *);
			int length = (int)strlen(text);

			for (int i = 0; i < length; i++)
				put(out, text[i]);
			for (; length < width; length++)
				put(out, ' ');
		} else if (*format == 'c') {
			put(out, (char)va_arg(arguments, int));
		} else if (*format == 'd') {
			long value = is_long ? va_arg(arguments, long) : va_arg(arguments, int);

			if (value < 0)
				put(out, '-');
			put_number(out, value < 0 ? -(unsigned long)value : (unsigned long)value,
				   10, width, pad);
		} else if (*format == 'u' || *format == 'x') {
			unsigned long value = is_long ? va_arg(arguments, unsigned long)
						      : va_arg(arguments, unsigned);

			put_number(out, value, *format == 'u' ? 10 : 16, width, pad);
		} else {
			put(out, *format);
		}
	}
}

void print(const char *format, ...)
{
	struct output out = { .length = 0 };
	va_list arguments;

	va_start(arguments, format);
	format_to(&out, format, arguments);
	va_end(arguments);
	sys(SYS_write, 1, out.text, out.length);
}

_Noreturn void quit(int code)
{
	for (;;)
		sys(SYS_exit_group, code);
}

_Noreturn void fail(const char *file, int line, const char *format, ...)
{
	struct output out = { .length = 0 };
	va_list arguments;

	va_start(arguments, format);
	format_to(&out, format, arguments);
	va_end(arguments);
	put(&out, 0);
	print("%s:%d: %s\n", file, line, out.text);
	quit(1);
}

uint64_t random_next(struct random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * 0x2545f4914f6cdd1dull;
}

#ifdef __x86_64__
void *map_pages(size_t bytes, int flags)
{
	long address = sys(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1,
			   0);

	expect(address > 0);
	return (void *)address;
}

uint64_t now_ns(void)
{
	struct { uint64_t seconds, ns; } time = { 0, 0 };

	sys(SYS_clock_gettime, 1, &time);
	return time.seconds * 1000000000ull + time.ns;
}

unsigned cpus(void)
{
	uint64_t mask[16] = { 0 };
	unsigned count = 0;

	expect(sys(SYS_sched_getaffinity, 1, sizeof(mask), mask) > 0); /* init's: all */
	for (; mask[0]; mask[0] &= mask[0] - 1)
		count++;
	return count;
}

extern void signal_restorer(void);

int on_signal(int signal, signal_handler handler)
{
	struct {
		signal_handler handler;
		uint64_t flags;
		void (*restorer)(void);
		uint64_t mask;
	} action = { handler, SA_SIGINFO | SA_RESTORER, signal_restorer, 0 };

	return (int)sys(SYS_rt_sigaction, signal, &action, 0, 8);
}

/* ucontext: flags, link, stack (3 words), then r8-r15, di, si, bp, bx, dx, ax, cx, sp, ip. */
uint64_t *context_rip(struct context *context)
{
	return (uint64_t *)context + 5 + 16;
}

static volatile int port_signal;

/* Steps over the faulting in: 1 byte, 2 with the operand size prefix. */
static void skip_port(int signal, void *info, struct context *context)
{
	uint64_t *rip = context_rip(context);

	(void)info;
	port_signal = signal;
	*rip += *(const uint8_t *)*rip == 0x66 ? 2 : 1;
}

int try_port(uint16_t port)
{
	on_signal(SIGSEGV, skip_port);
	port_signal = 0;
	__asm__ volatile("inb %%dx, %%al" ::"d"(port) : "rax", "memory");
	return port_signal;
}

int try_port_word(uint16_t port)
{
	on_signal(SIGSEGV, skip_port);
	port_signal = 0;
	__asm__ volatile("inw %%dx, %%ax" ::"d"(port) : "rax", "memory");
	return port_signal;
}
#endif

int wait_for(long pid)
{
	int status = 0;

	expect_equal(sys(SYS_wait4, pid, &status, 0, 0), pid);
	return status;
}

int in_child(void (*body)(void *), void *argument)
{
	long pid = sys(SYS_fork);

	if (pid == 0) {
		body(argument);
		quit(0);
	}
	expect(pid > 0);
	return wait_for(pid);
}

int pin(unsigned cpu)
{
	unsigned long mask = 1ul << cpu;

	return (int)sys(SYS_sched_setaffinity, 0, sizeof(mask), &mask);
}

int real_time(int priority)
{
	return (int)sys(SYS_sched_setscheduler, 0, priority ? SCHED_FIFO : SCHED_OTHER, &priority);
}

static char words[2048];

const char *command_line(void)
{
	return words;
}

void read_command_line(void)
{
	long fd = sys(SYS_open, "/proc/cmdline", O_RDONLY, 0);
	long length = fd < 0 ? 0 : sys(SYS_read, fd, words, sizeof(words) - 1);

	words[length > 0 ? length : 0] = 0;
	sys(SYS_close, fd);
}

int variant_is(const char *word)
{
	const char *found = strstr(words, word);

	return found && found[strlen(word)] <= ' ';
}

long option(const char *word, long fallback)
{
	const char *found = strstr(words, word);

	if (!found || found[strlen(word)] != '=')
		return fallback;
	return parse_number(found + strlen(word) + 1);
}
