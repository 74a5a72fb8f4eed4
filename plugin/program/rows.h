/*
 * The rows of a run: what is done goes to its row, and to that of its process, once its name is
 * certain.
 */
#ifndef PLUGIN_ROWS_H
#define PLUGIN_ROWS_H

#include <stdint.h>

#include "program/task.h"

/* What a task did goes to its row, and to that of its process. */
void enter_work(const struct task *task, enum row_kind kind, uint32_t id, uint64_t calls,
		const struct counts *counts);

#endif
