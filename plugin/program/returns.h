/*
 * Returns that a processor mispredicts, if the host asks for them (classes.h): the model of
 * common/return_stack.h, of the only CPU, whose return stack all tasks and interrupts share as
 * those of a processor do. It is empty when a run begins. Each belongs to the account in which the
 * return is executed.
 *
 * QEMU before 8.0 leaves the callbacks of an instruction that ends a block in place. What the next
 * instruction without callbacks accesses by a helper, such as cmpxchg16b, is told to them as well.
 * So an access counts only if it comes in the very step that the instruction began.
 */
#ifndef PLUGIN_RETURNS_H
#define PLUGIN_RETURNS_H

#include <stdint.h>

/* A call, or a return, begins. */
void on_transfer(unsigned int vcpu, void *data);

/* Of each access of a call: once it has stored its return address, the address `data`, the call is
 * executed. */
void on_predicted_call(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

/* Of the access of a return: it loads where control goes. One that can't be read, since it lies in
 * two pages, counts as one that is predicted. */
void on_predicted_return(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

#endif
