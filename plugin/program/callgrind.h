/*
 * Callgrind's client requests, which programs make that were written to be counted by it: a
 * sequence of instructions that does nothing, with a request in memory (Valgrind
 * include/valgrind.h, callgrind/callgrind.h; "Callgrind: client requests" in its manual).
 *
 * The request's address is in a register, which this API does not show. But the request is stored
 * just before, in the same block: of what the block stores, the word that is a request is it.
 */
#ifndef PLUGIN_CALLGRIND_H
#define PLUGIN_CALLGRIND_H

#include <stddef.h>
#include <stdint.h>

#include "common/linkage.h"
#include "common/qemu.h"
#include "program/task.h"

enum request { DUMP, ZERO, TOGGLE, DUMP_AT, START, STOP, REQUESTS };

/* Places that a block has stored to, the last ones. */
enum { MOST_STORES = 64 };
struct stored {
	struct { const uint8_t *place; uint64_t address; } stores[MOST_STORES];
	size_t count;
};
extern HIDDEN struct stored stored;

/* Some task sleeps, is preempted or wakes another: how often more, modulo 2^64. */
void count_collected(enum turn turn, uint64_t more);

/* Carries out a request with its first argument. */
void carry_out(enum request what, uint64_t argument, const struct counts *now);

/* The run is over: what was collected and not dumped is told. */
void end_collection(const struct counts *now);

/* The end of the sequence that begins at the block's instruction `first`, or 0; and how many bytes
 * its request's words have. */
size_t request_at(struct qemu_plugin_tb *tb, size_t first, uintptr_t *size);

void on_store(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

/*
 * The request, and its first argument, in words of `size` bytes; REQUESTS if there is none. They
 * are in an array of six, of which at least one was stored last. An array that lies in two pages is
 * not found.
 */
enum request last_request(size_t size, uint64_t *argument);

#endif
