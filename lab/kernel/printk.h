/* The console (serial port 0x3f8), and the way out when the kernel finds itself broken. */
#ifndef LAB_PRINTK_H
#define LAB_PRINTK_H

#include "types.h"

struct regs;

/* %s %c %d %u %x %lx %lu %ld %p with width and zero padding; longer lines are cut at 512 bytes. */
void printk(const char *format, ...) __attribute__((format(printf, 1, 2)));
int snprintf(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
void console_init(void);
void console_write(const char *text, size_t length);

/* Prints the message with CPU, task and a back trace, stops the other CPUs, ends the machine
 * (exit code 3 by isa-debug-exit if there is one, else a triple fault). */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with the registers of the exception that the kernel itself raised. */
_Noreturn void panic_regs(const struct regs *regs, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define assert(condition)                                                                          \
	do {                                                                                       \
		if (unlikely(!(condition)))                                                        \
			panic("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                \
	} while (0)

/* Ends the machine, as reboot(2): `code` for isa-debug-exit (QEMU's exit code is 2 * code + 1);
 * without that device by the keyboard controller, then a triple fault. */
_Noreturn void machine_exit(u32 code);

#endif
