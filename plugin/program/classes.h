/*
 * Which instructions are events: the host decides that (crates/trace/src/arch/x86_64/classes.rs),
 * and hands a table over. Here an instruction's place in the table is found.
 *
 * The table: 8 bytes `PMCL\3`, the number of classes, the class of an instruction with a `lock`
 * prefix, that of a return which a processor mispredicts, 0 if these are not counted, and those of
 * the turns of tasks (sleeps.h), which are events of the rows as instructions are; then for
 * each opcode of which some form has a class: its map, the opcode, and a class for each of FORMS. A
 * class is its number from 1; 0 is none. A form (arch/x86_64/form.h) is the prefix among none,
 * 0x66, 0xf3 and 0xf2, whether the operand has 64 bits, and the byte after the opcode.
 */
#ifndef PLUGIN_CLASSES_H
#define PLUGIN_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "common/linkage.h"

enum { MOST_CLASSES = 64 };

/* What becomes of a task that the kernel switches away from; and what a task does to another. */
enum turn { SLEPT, PREEMPTED, WOKE, TURNS };

struct classes {
	uint8_t count;
	uint8_t locked;
	uint8_t mispredicted;
	uint8_t turns[TURNS];
	uint8_t *of[CLASS_MAPS][256];	/* FORMS for each opcode; NULL if none has a class */
};
extern HIDDEN struct classes classes;

/* Reads the table; false if it is none. */
bool read_classes(int fd);

/* Whether the class, from 1, is no instruction's. */
bool is_turn(unsigned int class);

/* The number of the instruction's class, from 1; 0 if it has none. */
unsigned int class_of(const struct instruction *instruction);

#endif
