/*
 * Accounts of a run: to which row of the table every instruction belongs.
 *
 * Each task has a stack of frames: its own code (of a program, or of a kernel thread), and above it
 * what it entered the kernel for: a system call, an exception, an interrupt, softirqs. What is
 * executed belongs to the frame on top of the task that is current. Entries, returns and task
 * switches are the boundaries; what was executed since the last one is added to that frame. A
 * frame's counts go to its row when it ends, since only then its name is certain.
 *
 * The accounts check themselves: code of the user's with a frame open, or code of the kernel's
 * without one, means that a boundary was missed.
 */
#ifndef PLUGIN_ACCOUNT_H
#define PLUGIN_ACCOUNT_H

#include <stdint.h>

#include "program/task.h"

/* The number of the frame that what is executed now belongs to. */
uint64_t current_number(void);

/* The line that it accessed last. */
uint64_t *current_line(void);

/* All that was executed, by whom it may be; only differences mean anything. */
struct counts totals(const struct reading *now);

/* Adds what was executed since the last boundary to what it belongs to. */
void settle(const struct reading *now);

/* An instruction of this class, from 1, is begun. */
void count_event(unsigned int class);

/* A run begins, in the task `id`, which is in its own code: the agent's, until that calls execve
 * to become the program. */
void open_account(uint64_t id, const struct reading *now);

/* The run ends, in the agent's own code. */
void close_account(const struct reading *now);

/* The task `id`, if there was anything of it in this run; else NULL. */
struct task *known_task(uint64_t id);

void push(enum row_kind kind, uint32_t id, const struct reading *now,
	  const struct repeat *repeat, const struct begun *begun);

/* The frame on top, if it is one of this kind. */
struct frame *top(enum row_kind kind);

/* What the frame on top interrupted. */
struct counts *below_top(struct task *task);

/* The instruction that led to the frame on top was begun, and not executed. */
void undo(void);

/* Ends the frame on top; a string instruction below goes on in `repeat`. */
void pop(const struct reading *now, struct repeat *repeat);

/* The kernel returns to where it was entered, or begins a program. */
void return_from_kernel(const struct reading *now, struct repeat *repeat);

/* The task `id` is current from now on. */
void switch_to(uint64_t id, const struct reading *now);

/* The current task is new, even if one with its id was there before. It has been since the switch
 * to it, and nothing interrupts that. */
void begin_task(const struct reading *now);

#endif
