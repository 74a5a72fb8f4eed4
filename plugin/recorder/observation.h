/*
 * What is recorded of a path that is wanted: which of its windows, and what is executed in them.
 */
#ifndef PLUGIN_OBSERVATION_H
#define PLUGIN_OBSERVATION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Called before the last instruction of a struct stretch: the others, which can neither fault nor
 * touch memory, have been executed.
 */
void on_stretch(unsigned int vcpu, void *data);

void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

void on_begin(unsigned int vcpu, void *data);

void on_end(unsigned int vcpu, void *data);

/* Control comes to a block of code. */
void on_spot(unsigned int vcpu, void *data);

/* A path's execution begins, or the one before has ended: which, the next instruction tells. */
void end_path(void);

/*
 * The path with this index, which is at most NO_PATH, begins; false if this execution is not the
 * next one that is wanted.
 */
bool begin_path(uint64_t path);

#endif
