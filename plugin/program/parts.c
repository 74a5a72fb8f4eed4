/*
 * Rows by owner, in a table that is searched by both.
 */
#include "program/parts.h"

#include <stddef.h>

bool enter_part(struct parts *parts, uint64_t owner, const struct row *more)
{
	size_t at = (owner * 0x9e3779b97f4a7c15u + more->kind * 2654435761u + more->id * 40503u) %
		    MOST_PARTS;
	struct part *part;

	for (;; at = (at + 1) % MOST_PARTS) {
		part = &parts->all[at];
		if (!part->row.used || (part->owner == owner && part->row.kind == more->kind &&
					part->row.id == more->id))
			break;
	}
	if (part->row.used) {
		add_to_row(&part->row, more);
		return true;
	}
	/* One place stays free, where a search ends. */
	if (parts->count == MOST_PARTS - 1)
		return false;
	parts->count++;
	*part = (struct part){ .owner = owner, .row = *more };
	return true;
}
