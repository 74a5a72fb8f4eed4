/*
 * What a task is, by the kernel's own record of it, `struct task_struct`, in the guest's memory:
 * whether it leads its threads, and what it is called.
 *
 * Where in it the fields stand depends on the kernel's version and configuration. They are found by
 * what must be there in a task that is known: the agent's child, whose parent is process 1, whose
 * parent is the kernel's first task. Each of the three has the fields in one place of the record,
 * in the order of Linux include/linux/sched.h, and that place is the only one of this kind; or else
 * nothing is known of any task.
 *
 * A task is known by its slot, where the kernel keeps its stack pointer: `thread.sp`, near the end
 * of the record.
 */
#ifndef PLUGIN_TASK_STRUCT_H
#define PLUGIN_TASK_STRUCT_H

#include <stdbool.h>
#include <stdint.h>

enum { LONGEST_TASK_NAME = 15 };	/* Linux TASK_COMM_LEN, less its end */
enum { TASK_ALIGNMENT = 64 };	/* bytes, of a task's record; Linux kernel/fork.c, fork_init() */

/* The kernel accesses a task's slot, which is `offset` bytes after the task's record. */
void see_slot(uint32_t info, uint64_t slot, uint64_t offset);

/* The slot of the task whose record has this address among its first 64 bytes, if it is one's. */
uint64_t slot_near(uint64_t address);

/* Finds the fields by the task with this slot, a child of the agent's that has no child and no
 * other thread. False if they are not found; once they are, they are kept. */
bool find_fields(uint64_t slot);

/* Whether the task is its process's first thread. To be asked only after fields were found. */
bool leads_threads(uint64_t slot);

/* The number of the task's process, as that has it itself; 0 if fields were not found. */
uint32_t process_number(uint64_t slot);

/* The task's name, with its end. To be asked only after fields were found. */
void read_task_name(uint64_t slot, char name[LONGEST_TASK_NAME + 1]);

#endif
