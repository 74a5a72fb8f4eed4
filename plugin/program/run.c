/*
 * The begin and the end of a run, and its rows and cells in the stream.
 */
#include "program/run.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/return_stack.h"
#include "common/stream.h"
#include "kernel/passage.h"
#include "program/account.h"
#include "program/call_tree.h"
#include "program/callgrind.h"
#include "program/cells.h"
#include "program/flow.h"
#include "program/idling.h"
#include "program/parts.h"
#include "program/places.h"
#include "program/processes.h"
#include "program/regions.h"
#include "program/sleeps.h"
#include "program/task.h"
#include "program/threads.h"
#include "program/window_marks.h"
#include "program/windows.h"

enum tag { RUN = 1, LOST, CELL = 7 };

static void put_numbers(const uint64_t *numbers, size_t count)
{
	reserve(count * LONGEST_NUMBER);
	for (size_t i = 0; i < count; i++)
		put_unsigned(numbers[i]);
}

static void put_row(const struct row *row)
{
	const uint64_t numbers[] = {
		row->kind, row->id, row->calls, row->counts.steps, row->counts.surplus,
		row->counts.string_bytes, row->counts.lines, row->counts.pages, row->counts.visits,
		row->counts.checks, row->counts.faults,
	};

	put_numbers(numbers, sizeof(numbers) / sizeof(*numbers));
	put_events(row->counts.events);
}

static void write_rows(void)
{
	for (size_t at = 0; at < MOST_ROWS; at++)
		if (account.rows[at].used)
			put_row(&account.rows[at]);
}

/* The rows of processes, or of threads, each after its owner. */
static void write_parts(enum record_tag tag, const struct parts *parts)
{
	for (size_t at = 0; at < MOST_PARTS; at++) {
		const uint64_t owner = parts->all[at].owner;
		const uint64_t numbers[] = { owner >> 32, owner & UINT32_MAX };

		if (!parts->all[at].row.used)
			continue;
		if (tag == THREAD_PART)
			put_record(tag, numbers, 2);
		else
			put_record(tag, &owner, 1);
		put_row(&parts->all[at].row);
	}
}

static void write_processes(void)
{
	const uint64_t about[] = { processes.unparted, processes.beyond, processes.unseen };

	put_record(PROCESSES, about, sizeof(about) / sizeof(*about));
	if (processes.unparted)
		return;
	for (uint32_t i = FIRST_PROCESS; i <= processes.count; i++) {
		const struct process *process = &processes.all[i];
		const uint64_t numbers[] = {
			process->parent, process->order,
			*process->name ? number_of(process->name) : NOTHING, process->tasks,
		};

		put_record(PROCESS, numbers, sizeof(numbers) / sizeof(*numbers));
	}
	write_parts(PART, &processes.parts);
}

static void write_threads(void)
{
	const uint64_t about[] = { threads.unthreaded, threads.beyond };

	if (processes.unparted)
		return;
	put_record(THREADS, about, sizeof(about) / sizeof(*about));
	if (threads.unthreaded)
		return;
	for (uint32_t i = 1; i <= threads.count; i++) {
		const struct thread *thread = &threads.all[i];
		const size_t length = strlen(thread->name);
		const uint64_t numbers[] = { thread->process, thread->order, length };

		put_record(THREAD, numbers, sizeof(numbers) / sizeof(*numbers));
		reserve(length);
		put_bytes(thread->name, length);
	}
	write_parts(THREAD_PART, &threads.parts);
}

/* The number of a process as PROCESS has it; 0 if none was told. */
static uint64_t told_process(uint32_t process)
{
	return processes.unparted ? NO_PROCESS : process;
}

static void write_sleeps(void)
{
	const uint64_t about[] = { sleeps.sleepless, idling.unknown, idle_steps() };

	put_record(SLEEPS, about, sizeof(about) / sizeof(*about));
	for (size_t at = 0; !sleeps.sleepless && at < MOST_SLEEPS; at++) {
		const struct sleep *sleep = &sleeps.all[at];
		const uint64_t numbers[] = {
			told_process(sleep->process), sleep->kind, sleep->id,
			told_process(sleep->waker.process), sleep->waker.kind, sleep->waker.id,
			sleep->count, sleep->steps, sleep->idle, sleep->first,
		};

		if (sleep->count)
			put_record(SLEEP, numbers, sizeof(numbers) / sizeof(*numbers));
	}
}

static void write_tree(void)
{
	const uint64_t about[] = { call_tree.wanted, call_tree.deeper, call_tree.beyond };

	if (!call_tree.wanted)
		return;
	put_record(TREE, about, sizeof(about) / sizeof(*about));
	for (uint32_t i = 1; i <= call_tree.count; i++) {
		const struct node *node = &call_tree.nodes[i];
		const uint64_t numbers[] = { node->parent, node->kind, node->site, node->target };

		put_record(NODE, numbers, sizeof(numbers) / sizeof(*numbers));
	}
}

static void write_cells(void)
{
	for (size_t at = 0; at < cells.room; at++) {
		const struct cell *cell = &cells.cells[at];
		const uint64_t numbers[] = {
			cell->kind, cell->id, cell->block, cell->times, cell->steps, cell->surplus,
			cell->node,
		};

		const uint64_t of_class[] = {
			cell->kind, cell->id, cell->block, cell->class - 1, cell->times,
		};

		if (cell->class && cell->times)
			put_record(EVENT_CELL, of_class, 5);
		if (!cell->block || !cell->steps)
			continue;
		if (cell->node)
			put_record(TREE_CELL, numbers, 7);
		else
			put_record((enum record_tag)CELL, numbers, 6);
	}
}

void on_program_begin(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);

	(void)vcpu;
	(void)data;
	/* The program may have such markers too: only the agent's, outside of a run, counts. */
	if (account.open)
		return;
	seen.idled = 0;
	repeat.instruction = NULL;
	begun.class = 0;
	clear_return_stack();
	open_account(current_id, &now);
	open_windows();
	open_call_tree(*call_tree.region ? number_of(call_tree.region) : NOTHING);
	open_sleeps(wake_up_is_known());
	open_idling();
	if (!current_id)
		lose(NO_TASK);
}

void on_program_end(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);
	struct counts counts;
	uint64_t numbers[2];

	(void)vcpu;
	(void)data;
	/* The agent's; the program's own would end the run too early. */
	if (!account.open || account.current->origin == PROGRAM_TASK)
		return;
	for (size_t at = 0; at < MOST_TASKS; at++)
		if (account.tasks[at])
			leave_regions(account.tasks[at]);
	counts = totals(&now);
	end_collection(&counts);
	each_window(chosen, close_window, &counts);
	close_account(&now);
	if (unseen)
		lose(UNSEEN_CODE);
	if (!account.lost) {
		write_tree();
		write_cells();
		write_processes();
		write_threads();
		write_sleeps();
	}
	reserve(1);
	put(account.lost ? LOST : RUN);
	numbers[0] = account.lost ? account.lost : seen.idled;
	numbers[1] = account.row_count;
	put_numbers(numbers, account.lost ? 1 : 2);
	if (!account.lost)
		write_rows();
	flush();
}
