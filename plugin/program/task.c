/*
 * The state of the accounts.
 */
#include "program/task.h"

#include <stddef.h>

#include "program/classes.h"

struct account account;

void lose(enum lost why)
{
	if (!account.lost)
		account.lost = why;
}

void add_counts(struct counts *to, const struct counts *more)
{
	to->steps += more->steps;
	to->surplus += more->surplus;
	to->string_bytes += more->string_bytes;
	to->lines += more->lines;
	to->pages += more->pages;
	to->visits += more->visits;
	to->checks += more->checks;
	to->faults += more->faults;
	to->changes += more->changes;
	for (size_t i = 0; i < classes.count; i++)
		to->events[i] += more->events[i];
}

void add_to_row(struct row *to, const struct row *more)
{
	to->calls += more->calls;
	add_counts(&to->counts, &more->counts);
}
