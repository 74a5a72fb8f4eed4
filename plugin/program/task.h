/*
 * Tasks, their frames and the rows of a run: the types of the accounts (account.h has the rules),
 * and the one state that they share.
 */
#ifndef PLUGIN_TASK_H
#define PLUGIN_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/linkage.h"
#include "program/classes.h"

/* crates/trace/src/accounts/kind.rs has the same, and more: those of functions are only numbers
 * here, and the table of places says which are a program's own work. */
enum row_kind {
	USER, SYSCALL, SYSCALL_32, PAGE_FAULT, EXCEPTION, INTERRUPT, SOFTIRQ, NEW_TASK,
	KERNEL_THREAD, AGENT, OTHER_PROCESS,
	REGION_OF_PROGRAM,	/* of cells only */
	INTERPRETER_FAULT,	/* a page fault that no processor takes: held_fault.h */
};
#define UNNAMED UINT32_MAX	/* a row's id until it is known */
#define BEYOND UINT32_MAX	/* all processes, or threads, that there is no room for */

enum lost {			/* why the accounts are no use; the host has the words */
	NOT_LOST, USER_CODE_IN_KERNEL, KERNEL_CODE_IN_USER, TOO_DEEP, TOO_MANY_TASKS,
	TOO_MANY_ROWS, NO_MEMORY, NOTHING_TO_RETURN_FROM, NO_ERROR_CODE, NO_TASK,
	UNSEEN_CODE,
};

struct counts {
	uint64_t steps;		/* of the guest's clock */
	uint64_t surplus;	/* of these, those of string instructions beyond one each */
	uint64_t string_bytes;
	uint64_t lines;		/* of data, each once a frame */
	uint64_t pages;		/* the same */
	uint64_t visits;	/* accesses to another line than the frame's last one */
	uint64_t checks;	/* steps in which a string instruction only saw that it is done */
	uint64_t faults;	/* instructions begun or fetched, not executed: in no step */
	uint64_t user;		/* instructions of a program's, in totals() only */
	uint64_t changes;	/* begun instructions that change an operand in memory */
	uint64_t events[MOST_CLASSES];	/* instructions of each class */
};

/* A string instruction that may be executed once more. */
struct repeat {
	const void *instruction;
	uint64_t next;		/* what the counters say before that */
	uint64_t bytes;		/* that it moves each time, if that is known before */
	bool checks;		/* its check, the last step, is counted */
};

/* The last instruction that has a class. */
struct begun {
	uint64_t next;		/* what the counters say once it was begun */
	uint8_t class;		/* from 1 */
};

/* What was executed in a block of the kernel's code, for one row; or, with a class, how many
 * instructions of that class were. */
struct cell {
	uint64_t block;		/* its address; 0 if this cell is free */
	uint32_t node;		/* of the tree of calls (call_tree.h); 0 if none is wanted */
	enum row_kind kind;
	uint32_t id;
	uint32_t class;		/* from 1; 0 if steps are counted */
	uint64_t times;		/* that the block was entered; or instructions of the class */
	uint64_t steps, surplus;
};

/* Cells of a row that is not known yet. */
struct cell_list {
	struct cell *cells;
	size_t count, room;
};

/* A call, or an entry into the kernel (call_tree.h). */
struct call {
	uint64_t slot;		/* where its return address is */
	uint64_t back;		/* the block that this leads to */
	uint64_t site, target;	/* as of its node; the latter 0 until it is known */
	uint32_t node, kind;	/* the former 0 until it is needed */
};

struct call_stack {
	struct call *calls;
	uint32_t count, room;
	bool renewed;		/* the task executed a program: those of its own code are gone */
};

struct frame {
	enum row_kind kind;
	uint32_t id;
	struct counts counts;
	struct repeat repeat;	/* in the frame below, as it was left */
	bool repeating;		/* the last that was begun there is one that repeats */
	uint8_t begun;		/* the class of the last that was begun there; 0 if it has none */
	uint64_t number;	/* of this frame among all: lines are counted once in each */
	uint64_t last_line;	/* that was accessed; NO_LINE before */
	uint64_t block_below;	/* that was left for this one */
	uint32_t node_below;
	uint32_t calls_below;	/* how many calls there are below the frame's own */
	struct cell_list early;	/* until the frame has a name, or for good if it is held */
	bool held;		/* it is a fault whose row is known only later */
	uint64_t address;	/* if so, of the instruction that faulted */
};

/* A page fault that has ended, and whose row is not known yet (held_fault.h). */
struct held_fault {
	bool used;
	unsigned int depth;	/* of what it interrupted; which then had these: */
	uint64_t steps, changes;
	uint64_t address;	/* of the instruction that faulted */
	uint32_t id;
	struct counts counts;
	struct cell_list cells;
};

/* Who ended a sleep (sleeps.h). */
struct waker {
	uint32_t process;
	enum row_kind kind;
	uint32_t id;
};

enum task_origin { PROGRAM_TASK, NEW_KERNEL_TASK, OTHER_TASK };

enum { MOST_FRAMES = 16, MOST_TASKS = 1 << 15, MOST_ROWS = 1 << 12 };

struct task {
	uint64_t id;		/* where the kernel keeps its stack pointer */
	enum task_origin origin;
	bool in_user;		/* its own code is a program's */
	unsigned int depth;
	struct counts user, kernel;	/* of its own code */
	struct cell_list user_cells, kernel_cells;	/* until it is known whose that is */
	uint64_t number, last_line;	/* as a frame's, for its own code */
	struct call_stack calls;
	struct frame frames[MOST_FRAMES];
	struct held_fault held;
	struct region_stack *regions;	/* regions.h; NULL if it has had none */
	uint32_t process;	/* processes.h */
	uint32_t thread;	/* threads.h */
	bool becomes_first;	/* of its process's threads, once its system call ends */
	bool away;		/* it is switched away from; and was woken since then: */
	bool woken;
	bool preempted;		/* the last switch to it ended a preemption */
	uint64_t woken_at;	/* in steps */
	struct waker waker;
	uint64_t idle_before;	/* steps that the CPU had waited; and how often it had: */
	uint64_t wakes_before;
};

struct row {
	bool used;
	enum row_kind kind;
	uint32_t id;
	uint64_t calls;
	struct counts counts;
};

/* What the counters say at a boundary. */
struct reading {
	uint64_t user, kernel, surplus, user_surplus, string_bytes, lines, pages, visits, checks;
	uint64_t changes;
};

struct account {
	bool open;
	bool launching;		/* the agent has not called execve yet */
	enum lost lost;
	struct reading last;
	uint64_t faults;	/* instructions begun, not executed */
	uint64_t undone_surplus;	/* of these, string instructions that went on */
	uint64_t undone_bytes;	/* and theirs */
	uint64_t user_faults, undone_user_surplus;	/* the same, in code of a program's */
	uint64_t events[MOST_CLASSES];	/* instructions of each class, by whom they may be */
	struct task *current;
	struct counts since_switch;	/* all that was executed since it became that */
	struct task *tasks[MOST_TASKS];
	size_t task_count;
	struct row rows[MOST_ROWS];
	size_t row_count;
	uint64_t frames;	/* begun so far */
};
extern HIDDEN struct account account;

void lose(enum lost why);

void add_counts(struct counts *to, const struct counts *more);

/* Adds the calls and counts of a row of the same kind and id. */
void add_to_row(struct row *to, const struct row *more);

#endif
