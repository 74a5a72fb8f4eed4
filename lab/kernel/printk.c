/*
 * The console: a 16550 serial port at 0x3f8, and formatted text for it.
 *
 * Lines of several CPUs don't mix: one lock, taken with interrupts off. A panic goes round it.
 */
#include "printk.h"

#include <stdarg.h>

#include "../x86/cpu.h"
#include "lock.h"
#include "panic.h"

#define SERIAL 0x3f8
#define SERIAL_DATA (SERIAL + 0)
#define SERIAL_INTERRUPTS (SERIAL + 1)
#define SERIAL_FIFO (SERIAL + 2)
#define SERIAL_LINE (SERIAL + 3)
#define SERIAL_MODEM (SERIAL + 4)
#define SERIAL_STATUS (SERIAL + 5)

#define LINE_8N1 0x03
#define LINE_DIVISOR 0x80
#define FIFO_CLEAR 0x07
#define MODEM_DTR_RTS 0x03
#define STATUS_EMPTY 0x20
#define NO_PORT 0xff

#define LINE_MOST 512

static struct spinlock console_lock = SPINLOCK_INIT;
static bool console_there;

void console_init(void)
{
	out8(SERIAL_INTERRUPTS, 0);
	out8(SERIAL_LINE, LINE_DIVISOR);
	out8(SERIAL_DATA, 1); /* 115200 */
	out8(SERIAL_INTERRUPTS, 0);
	out8(SERIAL_LINE, LINE_8N1);
	out8(SERIAL_FIFO, FIFO_CLEAR);
	out8(SERIAL_MODEM, MODEM_DTR_RTS);
	console_there = in8(SERIAL_STATUS) != NO_PORT;
}

static void put(char c)
{
	while (!(in8(SERIAL_STATUS) & STATUS_EMPTY))
		cpu_pause();
	out8(SERIAL_DATA, c);
}

static void put_all(const char *text, size_t length)
{
	for (; length; length--, text++) {
		if (*text == '\n')
			put('\r');
		put(*text);
	}
}

void console_write(const char *text, size_t length)
{
	u64 flags;

	if (!console_there)
		return;
	if (panicking()) {
		put_all(text, length);
		return;
	}
	flags = spin_lock_irqsave(&console_lock);
	put_all(text, length);
	spin_unlock_irqrestore(&console_lock, flags);
}

/* Where formatted text goes; counts on beyond the end, as snprintf's result does. */
struct out {
	char *text;
	size_t size, length;
};

static void add(struct out *out, char c)
{
	if (out->length < out->size)
		out->text[out->length] = c;
	out->length++;
}

static void add_padding(struct out *out, char c, int count)
{
	while (count-- > 0)
		add(out, c);
}

static void add_text(struct out *out, const char *text, int width)
{
	if (!text)
		text = "(null)";
	add_padding(out, ' ', width - (int)strlen(text));
	while (*text)
		add(out, *text++);
}

static void add_number(struct out *out, u64 value, unsigned base, bool negative, char pad,
		       int width)
{
	char digits[20];
	int count = 0;

	do
		digits[count++] = "0123456789abcdef"[value % base];
	while (value /= base);
	width -= count + negative;
	if (negative && pad == '0')
		add(out, '-');
	add_padding(out, pad, width);
	if (negative && pad != '0')
		add(out, '-');
	while (count)
		add(out, digits[--count]);
}

/* One conversion, after its '%'; returns where the format goes on. */
static const char *add_conversion(struct out *out, const char *format, va_list *arguments)
{
	bool wide = false;
	char pad = ' ';
	int width = 0;
	i64 number;

	if (*format == '0')
		pad = *format++;
	while (*format >= '0' && *format <= '9')
		width = width * 10 + *format++ - '0';
	for (; *format == 'l' || *format == 'z'; format++)
		wide = true;
	switch (*format) {
	case 'd':
		number = wide ? va_arg(*arguments, i64) : va_arg(*arguments, int);
		add_number(out, number < 0 ? -(u64)number : (u64)number, 10, number < 0, pad,
			   width);
		break;
	case 'u':
	case 'x':
		add_number(out, wide ? va_arg(*arguments, u64) : va_arg(*arguments, u32),
			   *format == 'u' ? 10 : 16, false, pad, width);
		break;
	case 'p':
		add_number(out, va_arg(*arguments, u64), 16, false, '0', 16);
		break;
	case 's':
		add_text(out, va_arg(*arguments, const char *), width);
		break;
	case 'c':
		add(out, va_arg(*arguments, int));
		break;
	case '\0':
		return format;
	default:
		add(out, *format);
	}
	return format + 1;
}

int vsnprintf(char *text, size_t size, const char *format, va_list arguments)
{
	struct out out = { text, size, 0 };
	va_list rest;

	va_copy(rest, arguments);
	while (*format) {
		if (*format == '%')
			format = add_conversion(&out, format + 1, &rest);
		else
			add(&out, *format++);
	}
	va_end(rest);
	if (size)
		text[min(out.length, size - 1)] = '\0';
	return out.length;
}

int snprintf(char *text, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, size, format, arguments);
	va_end(arguments);
	return length;
}

void vprintk(const char *format, va_list arguments)
{
	char line[LINE_MOST];
	size_t length = vsnprintf(line, sizeof(line), format, arguments);

	console_write(line, min(length, sizeof(line) - 1));
}

void printk(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintk(format, arguments);
	va_end(arguments);
}
