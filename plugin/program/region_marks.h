/*
 * What the program plugin does where a program marks regions: by markers, by its functions, or by
 * Callgrind's requests.
 */
#ifndef PLUGIN_REGION_MARKS_H
#define PLUGIN_REGION_MARKS_H

#include <stdint.h>

void on_region_marker(unsigned int vcpu, void *data);

/* Of an instruction as the ones after a region's marker. */
void on_name(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

void on_call(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

void on_function(unsigned int vcpu, void *data);

void on_function_return(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

/* Of the last instruction of a client request, whose words have `data` bytes. */
void on_request(unsigned int vcpu, void *data);

#endif
