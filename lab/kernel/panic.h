/* Between printk.c and panic.c. */
#ifndef LAB_PANIC_H
#define LAB_PANIC_H

#include <stdarg.h>

#include "types.h"

/* A CPU is in panic(): it prints without the console's lock, whose holder may be stopped. */
bool panicking(void);
int vsnprintf(char *text, size_t size, const char *format, va_list arguments);
void vprintk(const char *format, va_list arguments);

#endif
