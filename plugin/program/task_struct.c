/*
 * Finding the fields of a task's record, and reading them.
 */
#include "program/task_struct.h"

#include <stddef.h>
#include <string.h>

#include "arch/arch.h"
#include "kernel/ram.h"

/* What the agent is executed as, and how the kernel's first task is called. */
static const char AGENT_NAME[] = "init", FIRST_NAME[] = "swapper";

enum { LONGEST_RECORD = 1 << 16 };	/* bytes before a slot; Linux has fewer than 16,384 */
static uint64_t direct_map;	/* where the kernel sees physical address 0; 0 until it is known */
static uint64_t slot_offset;	/* of a slot in its record */
static struct {
	bool found;
	uint64_t group, leader, name;	/* offsets in the record */
} fields;

/* Fields beside each other: offsets from the first, the task's number. One word may stand before
 * the parent, the stack's canary. */
enum { GROUP = 4, PARENT = 8 };
/* And from the parent: the parent once more, the list of children, that of siblings, the leader. */
enum { PARENT_AGAIN = 8, CHILDREN = 16, SIBLINGS = 32, LEADER = 48, AFTER_LEADER = 56 };

void see_slot(uint32_t info, uint64_t slot, uint64_t offset)
{
	const uint8_t *place;

	slot_offset = offset;
	/* The kernel's first task lies in its image, not in memory that it took. */
	if (direct_map || slot >= KERNEL_TEXT)
		return;
	place = accessed(info, slot, sizeof(uint64_t));
	if (place)
		direct_map = slot - (place - ram.start);
}

uint64_t slot_near(uint64_t address)
{
	return address / TASK_ALIGNMENT * TASK_ALIGNMENT + slot_offset;
}

/* Where `length` bytes at an address of the kernel's are in ours; NULL if they are not in RAM. */
static const uint8_t *kernel_memory(uint64_t address, uint64_t length)
{
	uint64_t physical = address - (address >= KERNEL_TEXT ? KERNEL_TEXT : direct_map);

	if (!ram.start || !direct_map || physical >= ram.size || ram.size - physical < length)
		return NULL;
	return ram.start + physical;
}

static uint64_t word64(const uint8_t *place)
{
	uint64_t word;

	memcpy(&word, place, sizeof(word));
	return word;
}

static uint32_t word32(const uint8_t *place)
{
	uint32_t word;

	memcpy(&word, place, sizeof(word));
	return word;
}

/* The record at this address; NULL if there is none. */
static const uint8_t *task_record(uint64_t address)
{
	return kernel_memory(address, slot_offset + sizeof(uint64_t));
}

/* Whether the record at `address` is that of a first thread if its number stands at `number_at` and
 * its parent at `parent_at`. */
static bool is_process(uint64_t address, uint64_t number_at, uint64_t parent_at)
{
	const uint8_t *task = task_record(address);

	return task && word32(task + number_at) == word32(task + number_at + GROUP) &&
	       word64(task + parent_at) == word64(task + parent_at + PARENT_AGAIN) &&
	       word64(task + parent_at + LEADER) == address;
}

/* Whether the lists of a task without children, which is on its parent's list, are there. */
static bool has_lists(uint64_t address, uint64_t parent_at)
{
	const uint8_t *task = task_record(address);
	uint64_t children = address + parent_at + CHILDREN;

	return word64(task + parent_at + CHILDREN) == children &&
	       word64(task + parent_at + CHILDREN + 8) == children &&
	       kernel_memory(word64(task + parent_at + SIBLINGS), 8) &&
	       kernel_memory(word64(task + parent_at + SIBLINGS + 8), 8);
}

/* Three generations: the agent's child, process 1, the kernel's first task. */
struct family {
	uint64_t child, agent, first;
};

/* Whether the fields can be there; then `found` is the family as they tell it. */
static bool may_be_there(uint64_t child, uint64_t number_at, uint64_t parent_at,
			 struct family *found)
{
	struct family family = { .child = child };

	if (!is_process(child, number_at, parent_at) || !has_lists(child, parent_at))
		return false;
	family.agent = word64(task_record(child) + parent_at);
	if (!is_process(family.agent, number_at, parent_at) ||
	    word32(task_record(family.agent) + number_at) != 1)
		return false;
	family.first = word64(task_record(family.agent) + parent_at);
	if (!is_process(family.first, number_at, parent_at) ||
	    word32(task_record(family.first) + number_at) ||
	    word64(task_record(family.first) + parent_at) != family.first)
		return false;
	*found = family;
	return true;
}

/* How many places the fields may be in; the last one is kept. */
static unsigned int find_leader(uint64_t child, struct family *family)
{
	unsigned int places = 0;

	for (uint64_t at = 0; at + PARENT + 8 + AFTER_LEADER <= slot_offset; at += 8) {
		for (uint64_t parent = at + PARENT; parent <= at + PARENT + 8; parent += 8) {
			if (!may_be_there(child, at, parent, family))
				continue;
			places++;
			fields.group = at + GROUP;
			fields.leader = parent + LEADER;
		}
	}
	return places;
}

/* How many places their names may stand in; the last one is kept. */
static unsigned int find_name(const struct family *family)
{
	const uint8_t *child = task_record(family->child), *agent = task_record(family->agent);
	const uint8_t *first = task_record(family->first);
	unsigned int places = 0;

	for (uint64_t at = 0; at + LONGEST_TASK_NAME + 1 <= slot_offset; at++) {
		if (memcmp(child + at, AGENT_NAME, sizeof(AGENT_NAME)) ||
		    memcmp(agent + at, AGENT_NAME, sizeof(AGENT_NAME)) ||
		    memcmp(first + at, FIRST_NAME, sizeof(FIRST_NAME) - 1))
			continue;
		places++;
		fields.name = at;
	}
	return places;
}

bool find_fields(uint64_t slot)
{
	struct family family = { 0 };

	if (!fields.found && slot_offset <= LONGEST_RECORD && task_record(slot - slot_offset))
		fields.found = find_leader(slot - slot_offset, &family) == 1 &&
			       find_name(&family) == 1;
	return fields.found;
}

bool leads_threads(uint64_t slot)
{
	const uint8_t *task = task_record(slot - slot_offset);

	return task && word64(task + fields.leader) == slot - slot_offset;
}

uint32_t process_number(uint64_t slot)
{
	const uint8_t *task = fields.found ? task_record(slot - slot_offset) : NULL;

	return task ? word32(task + fields.group) : 0;
}

void read_task_name(uint64_t slot, char name[LONGEST_TASK_NAME + 1])
{
	const uint8_t *task = task_record(slot - slot_offset);

	memset(name, 0, LONGEST_TASK_NAME + 1);
	if (task)
		memcpy(name, task + fields.name, LONGEST_TASK_NAME);
}
