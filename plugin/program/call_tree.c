/*
 * The stacks of calls, and the nodes of the tree.
 */
#include "program/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "program/task.h"

struct call_tree call_tree;

/* ---- What is wanted -------------------------------------------------------------------------- */

static struct { enum row_kind kind; uint32_t id; } wanted_rows[MOST_WANTED];
static size_t wanted_count;

bool wants_row(enum row_kind kind, uint32_t id)
{
	for (size_t i = 0; i < wanted_count; i++)
		if (wanted_rows[i].kind == kind && wanted_rows[i].id == id)
			return true;
	return kind == REGION_OF_PROGRAM && *call_tree.region && id == call_tree.region_name;
}

bool wants_kind(enum row_kind kind)
{
	for (size_t i = 0; i < wanted_count; i++)
		if (wanted_rows[i].kind == kind)
			return true;
	return false;
}

/* The program's own code is in calls of its own, and a region in those of all tasks. */
static void want(bool callers)
{
	if (callers)
		call_tree.wanted = TREE_OF_CALLERS;
	else if (!call_tree.wanted)
		call_tree.wanted = TREE_OF_ROW;
}

bool read_wanted_row(FILE *file)
{
	unsigned int kind, id;

	if (wanted_count == MOST_WANTED || fscanf(file, "%x %x", &kind, &id) != 2)
		return false;
	wanted_rows[wanted_count].kind = kind;
	wanted_rows[wanted_count++].id = id;
	want(kind == USER || kind == REGION_OF_PROGRAM);
	return true;
}

void want_callers(void)
{
	want(true);
}

bool read_wanted_region(FILE *file)
{
	want(true);
	return !*call_tree.region && fscanf(file, " %127s", call_tree.region) == 1;
}

/* ---- The calls of a task --------------------------------------------------------------------- */

/* How far two addresses of one user stack lie apart at most: Linux's usual limit of a stack; and
 * the size of a kernel stack, THREAD_SIZE. */
enum { USER_STACK = 8 << 20, KERNEL_STACK = 1 << 14 };

static struct { enum { NO_CALL, CALLED, RETURNED } what; uint64_t slot, back; } noted;

void note_call(uint64_t slot, uint64_t back)
{
	noted.what = CALLED;
	noted.slot = slot;
	noted.back = back;
}

void note_return(uint64_t slot)
{
	noted.what = RETURNED;
	noted.slot = slot;
}

static bool on_one_stack(uint64_t slot, uint64_t other)
{
	if (is_kernel(slot) || is_kernel(other))
		return slot / KERNEL_STACK == other / KERNEL_STACK;
	return slot - other + USER_STACK <= 2 * USER_STACK;
}

/* How many calls there are below those of the frame on top, or of the task's own code. */
static uint32_t below_frame(const struct task *task)
{
	return task->depth ? task->frames[task->depth - 1].calls_below + 1 : 0;
}

/* Forgets the calls on the slot's stack that were never returned from: those at lower addresses,
 * where nothing is any more. */
static void drop_calls(struct task *task, uint64_t slot)
{
	struct call_stack *stack = &task->calls;
	uint32_t below = below_frame(task);

	while (stack->count > below && stack->calls[stack->count - 1].slot < slot &&
	       on_one_stack(stack->calls[stack->count - 1].slot, slot))
		stack->count--;
}

/* One more call, whose target is not known yet; NULL without memory. */
static struct call *more_calls(struct call_stack *stack)
{
	if (stack->count == stack->room) {
		uint32_t room = stack->room ? 2 * stack->room : 32;
		struct call *calls = realloc(stack->calls, room * sizeof(*calls));

		if (!calls) {
			lose(NO_MEMORY);
			return NULL;
		}
		stack->calls = calls;
		stack->room = room;
	}
	return &stack->calls[stack->count++];
}

static void follow_to(struct task *task, uint64_t site)
{
	struct call_stack *stack = &task->calls;
	struct call *call;

	/* Its slot is used anew. */
	drop_calls(task, noted.slot + 1);
	if (stack->count - below_frame(task) >= DEEPEST_CALL) {
		call_tree.deeper++;
		return;
	}
	call = more_calls(stack);
	if (call)
		*call = (struct call){
			.slot = noted.slot, .back = noted.back, .site = site, .kind = CALL_NODE,
		};
}

static void follow_back(struct task *task, uint64_t next)
{
	struct call_stack *stack = &task->calls;
	uint32_t below = below_frame(task);
	const struct call *top;

	for (uint32_t i = stack->count; i > below; i--) {
		if (stack->calls[i - 1].slot == noted.slot) {
			stack->count = i - 1;
			return;
		}
	}
	drop_calls(task, noted.slot);
	if (stack->count == below)
		return;
	/* Code of entries moves its return address. So does no other, where a return to this block
	 * is that of a call on top of the last that is known. */
	top = &stack->calls[stack->count - 1];
	if (top->back == next && is_kernel(noted.slot) && stack->count - below < DEEPEST_CALL)
		stack->count--;
}

/* Whether the calls that the task makes now lead to no node. */
static bool is_above_tree(const struct task *task)
{
	return call_tree.wanted == TREE_OF_ROW && task->in_user && !task->depth;
}

void follow_call(struct task *task, uint64_t site, uint64_t next)
{
	if (is_above_tree(task))
		noted.what = NO_CALL;
	else if (noted.what == CALLED)
		follow_to(task, site);
	else if (noted.what == RETURNED)
		follow_back(task, next);
	noted.what = NO_CALL;
}

void enter_call(struct task *task, uint64_t site)
{
	struct frame *frame = &task->frames[task->depth - 1];
	struct call *call;

	frame->calls_below = task->calls.count;
	call = more_calls(&task->calls);
	if (call)
		*call = (struct call){ .site = site, .kind = ENTRY_NODE + frame->kind };
}

void leave_call(struct task *task)
{
	const struct frame *frame = &task->frames[task->depth - 1];

	task->calls.count = frame->calls_below;
	if (task->depth == 1 && task->calls.renewed)
		forget_calls(task);
}

void renew_calls(struct task *task)
{
	task->calls.renewed = true;
}

void forget_calls(struct task *task)
{
	task->calls.count = 0;
	task->calls.renewed = false;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

enum { NODE_PLACES = 2 * MOST_NODES };
static uint32_t node_at[NODE_PLACES];	/* numbers, in open addressing */

void open_call_tree(uint32_t region_name)
{
	memset(node_at, 0, sizeof(node_at));
	call_tree.count = call_tree.rest = 0;
	call_tree.full = false;
	call_tree.deeper = call_tree.beyond = 0;
	call_tree.region_name = region_name;
	noted.what = NO_CALL;
	if (call_tree.wanted && !call_tree.nodes)
		call_tree.nodes = calloc(MOST_NODES + 1, sizeof(*call_tree.nodes));
	if (call_tree.wanted && !call_tree.nodes)
		lose(NO_MEMORY);
}

static bool is_alike(const struct node *node, const struct node *other)
{
	return node->parent == other->parent && node->kind == other->kind &&
	       node->site == other->site && node->target == other->target;
}

uint32_t rest_node(void)
{
	if (!call_tree.rest) {
		call_tree.rest = ++call_tree.count;
		call_tree.nodes[call_tree.rest] = (struct node){ .kind = REST_NODE };
	}
	return call_tree.rest;
}

/* The number of the node like this, which is made if there is none and there is room. */
static uint32_t node_like(const struct node *like)
{
	uint64_t key = (like->parent * 31ull + like->kind) * 0x9e3779b97f4a7c15u;
	size_t at;

	key = (key ^ like->site) * 0x9e3779b97f4a7c15u;
	key = ((key ^ key >> 29) ^ like->target) * 0x9e3779b97f4a7c15u;
	for (at = (key >> 32) % NODE_PLACES; node_at[at]; at = (at + 1) % NODE_PLACES)
		if (is_alike(&call_tree.nodes[node_at[at]], like))
			return node_at[at];
	if (call_tree.full || call_tree.count >= MOST_NODES - 1) {
		call_tree.beyond++;
		return rest_node();
	}
	node_at[at] = ++call_tree.count;
	call_tree.nodes[call_tree.count] = *like;
	return call_tree.count;
}

/* The node above all of the task's calls. */
static uint32_t root_of(const struct task *task)
{
	struct node root = { .kind = ROOT_NODE };

	if (call_tree.wanted == TREE_OF_CALLERS)
		root.target = task->process;
	return node_like(&root);
}

void reach_block(struct task *task, uint64_t block)
{
	struct call_stack *stack = &task->calls;

	if (stack->count > 0 && !stack->calls[stack->count - 1].target && !is_above_tree(task))
		stack->calls[stack->count - 1].target = block;
}

uint32_t current_node(struct task *task)
{
	struct call *calls = task->calls.calls;
	uint32_t count = task->calls.count, from = 0, at, node;

	if (!call_tree.nodes)
		return 0;
	if (task->depth && call_tree.wanted == TREE_OF_ROW)
		from = task->frames[task->depth - 1].calls_below;
	for (at = count; at > from && !calls[at - 1].node; at--)
		;
	node = at > from ? calls[at - 1].node : root_of(task);
	for (; at < count; at++) {
		const struct node like = {
			.parent = node, .kind = calls[at].kind, .site = calls[at].site,
			.target = calls[at].target,
		};

		/* An interrupt came before its first instruction. */
		if (!calls[at].target)
			continue;
		if (node != call_tree.rest)
			node = node_like(&like);
		calls[at].node = node;
	}
	return node;
}
