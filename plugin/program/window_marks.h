/*
 * What the program plugin does where windows between two points of the kernel begin and end.
 */
#ifndef PLUGIN_WINDOW_MARKS_H
#define PLUGIN_WINDOW_MARKS_H

#include <stdint.h>

#include "program/task.h"

/* Control comes to the spot `data`. */
void on_spot(unsigned int vcpu, void *data);

/* Of a call or a return in the kernel. */
void on_return_address(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

/* A run begins. */
void open_windows(void);

/* The run ends: a window that is open has no end. */
void close_window(uint32_t number, const struct counts *now);

#endif
