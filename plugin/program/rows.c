/*
 * The table of rows.
 */
#include "program/rows.h"

#include <stdbool.h>
#include <stddef.h>

#include "program/places.h"
#include "program/processes.h"
#include "program/task.h"

static void enter_row(const struct row *more)
{
	size_t at = (more->kind * 2654435761u + more->id * 40503u) % MOST_ROWS;

	while (account.rows[at].used &&
	       (account.rows[at].kind != more->kind || account.rows[at].id != more->id))
		at = (at + 1) % MOST_ROWS;
	if (account.rows[at].used) {
		add_to_row(&account.rows[at], more);
	} else if (account.row_count == MOST_ROWS - 1) {
		lose(TOO_MANY_ROWS);
	} else {
		account.row_count++;
		account.rows[at] = *more;
	}
}

/* Whether a program itself causes this work: then it is its process's. */
static bool is_own_work(enum row_kind kind)
{
	return kind < INTERRUPT || kind == NEW_TASK || is_own_function(kind);
}

void enter_work(const struct task *task, enum row_kind kind, uint32_t id, uint64_t calls,
		const struct counts *counts)
{
	const struct row more = {
		.used = true, .kind = kind, .id = id, .calls = calls, .counts = *counts,
	};

	if (!calls && !counts->steps && !counts->faults)
		return;
	enter_row(&more);
	if (is_own_work(kind))
		enter_own_work(task, &more);
}
