/*
 * The places of the kernel that the program plugin has to know, as the host found them in the
 * kernel's symbol table (crates/trace/src/kernel/places.rs).
 *
 * A text, a line for each place: `KIND FIRST END ID`, KIND a letter, the others hexadecimal.
 * Ascending by FIRST; END is the address after the last byte.
 */
#ifndef PLUGIN_PLACES_H
#define PLUGIN_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"

enum place_kind {
	SYSCALL_ENTRY = 'e',	/* id: 0 by a 64-bit call, 1 by a 32-bit one */
	SYSCALL_FUNCTION = 'f',	/* id: the number of its name */
	PAGE_FAULT_ENTRY = 'p',
	FAULT_ENTRY = 'x',	/* an exception before its instruction; id: its name's number */
	TRAP_ENTRY = 't',	/* after it */
	INTERRUPT_ENTRY = 'i',	/* id: the number of its name */
	INTERRUPT_TABLE = 'v',	/* id: bytes of an entry, plus 256 times the first vector */
	ROW_FUNCTION = 's',	/* its executions are a row's; id: below */
	SWITCH = 'w',		/* from task to task */
	NEW_TASK_ENTRY = 'n',	/* where a new task begins */
	TASK_COPY = 'c',	/* copies what the architecture keeps of a task */
	WAKE_UP = 'k',		/* wakes a task */
	NEW_PROGRAM = 'b',	/* a task executes a program, and has its name */
	ENTRY_TEXT = 'a',	/* all code that enters the kernel or leaves it */
	FUNCTION = 'u',		/* of the program's: functions.h */
	INSIDE = 'r',		/* of a window: windows.h */
	TREE_ROW = 'g',		/* of which a tree is wanted: call_tree.h */
	TREE_REGION = 'h',	/* the same */
	TREE_CALLERS = 'q',	/* and what leads to it */
	KERNEL_START = 'y',	/* a function of the kernel's begins: code_starts.h */
	PAGE_STARTS = 'z',	/* functions of a program's */
};

/* In another form: `u`, where in a page a function of the program's begins, its bytes, its name;
 * `r`, the number of a window, the name of the region inside of which it must begin; `g`, the kind
 * and the id of a row; `h`, the name of a region; `q` alone; `y`, an address; `z`, a page's hash,
 * how many functions begin in it, and where. */
#define ROW_KIND 0xff		/* in the id of a row's function: the kind of row */
#define ELSEWHERE 0x100		/* beside it: this is a part that is not where it begins */
#define OWN_WORK 0x200		/* beside it: a program itself causes this work */
#define VECTOR 0x10000		/* in an interrupt's id: the rest is its vector */

struct place {
	uint64_t first, end;
	enum place_kind kind;
	uint32_t id;
};

extern HIDDEN struct place entry_text;

/* Reads the table; false if it is none. */
bool read_places(int fd);

/* Whether the kernel's function that wakes a task is among the places. */
bool wake_up_is_known(void);

/* Whether this kind of work is of functions, and a program itself causes it. */
bool is_own_function(unsigned int kind);

/* The last place that begins at or before `address`, if that is in it. */
const struct place *place_at(uint64_t address);

bool is_in(const struct place *place, uint64_t address);

#endif
