/*
 * What the program plugin does when the guest enters the kernel or leaves it, switches tasks, idles
 * or repeats a string instruction: the boundaries of the accounts (account.h).
 */
#ifndef PLUGIN_FLOW_H
#define PLUGIN_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"
#include "program/task.h"

enum { USER_STEPS, KERNEL_STEPS, CHANGES };	/* counters of common/steps.h */

struct seen {
	uint64_t surplus;	/* executions of string instructions beyond the first */
	uint64_t user_surplus;	/* of these, in code of a program's */
	uint64_t string_bytes;
	uint64_t lines, pages, visits;
	uint64_t checks;	/* of string instructions, that they are done */
	uint64_t idled;		/* times that the CPU was told to wait */
};
extern HIDDEN struct seen seen;
extern HIDDEN struct repeat repeat;	/* the string instruction begun last */
extern HIDDEN struct begun begun;
extern HIDDEN uint64_t current_id;	/* the current task, in a run or not; 0 until one is seen */
extern HIDDEN bool unseen;		/* some code is not instrumented */

/* At a boundary before an instruction, or, with `after` 1, after one of the kernel's that has only
 * begun. */
struct reading reading(uint64_t after);

void on_entry(unsigned int vcpu, void *data);

/* Of an interrupt that arrives through a table: `data` is its vector. */
void on_table_entry(unsigned int vcpu, void *data);

void on_syscall_function(unsigned int vcpu, void *data);

void on_return(unsigned int vcpu, void *data);

void on_row_function_end(unsigned int vcpu, void *data);

/* Of the instruction that loads a page fault's error code (Intel SDM volume 3, 4.7). */
void on_error_code(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

/* An instruction that a program may not execute: QEMU knows so when it translates it, and then its
 * clock counts it although it is not executed. Of other faults it finds out too late for that. */
void on_refused(unsigned int vcpu, void *data);

/* Of the instruction that loads the next task's stack pointer; `data` is where in the task's record
 * that is. */
void on_switch(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

void on_new_task(unsigned int vcpu, void *data);

/* Of each access of the function that copies a task: one stores the new one's stack pointer. */
void on_copy_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

/* Of each store of a function that wakes a task: the first into its state is the wake-up. */
void on_wake_store(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

void on_new_program(unsigned int vcpu, void *data);

/* A block of the kernel's code begins at the address `data`. */
void on_kernel_block(unsigned int vcpu, void *data);

/* The same of all code that is in a tree: `data` is made by code_block(). */
void on_tree_block(unsigned int vcpu, void *data);

/* Of each access of a call, which stores its return address: that leads to the block `data`. */
void on_tree_call(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

void on_tree_return(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

void on_idle(unsigned int vcpu, void *data);

/* What an instruction is told apart by, with the bytes that it moves each time if they are to be
 * counted so: its address, of which the highest bits are one, and their logarithm, plus 1. */
void *string_key(uint64_t address, uint64_t bytes);

/* Before each execution of one: `data` is made by string_key(). One that goes on has moved what it
 * does the time before; the last time it only sees that it is done. */
void on_string(unsigned int vcpu, void *data);

/* Before each execution of one: `data` is its class, from 1. */
void on_counted(unsigned int vcpu, void *data);

/* The same of a string instruction that repeats, after on_string: it is one, however often. If it
 * faults the first time, it goes on after that. */
void on_counted_string(unsigned int vcpu, void *data);

/* Of each instruction of the kernel's, if lines are counted. */
void on_kernel_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

void on_user_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

/* Of one that may end by what it compares: it has moved what it did access. */
void on_string_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data);

#endif
