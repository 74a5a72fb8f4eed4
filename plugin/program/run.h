/*
 * A run of the user's program: where it begins and ends, and what is written of it.
 */
#ifndef PLUGIN_RUN_H
#define PLUGIN_RUN_H

void on_program_begin(unsigned int vcpu, void *data);

void on_program_end(unsigned int vcpu, void *data);

#endif
