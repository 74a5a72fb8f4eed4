/* Circular doubly linked lists; the head is a node without an owner. */
#ifndef LAB_LIST_H
#define LAB_LIST_H

#include "types.h"

struct list {
	struct list *next, *prev;
};

#define LIST_INIT(name) { &(name), &(name) }

static inline void list_init(struct list *head)
{
	head->next = head->prev = head;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

/* Puts `node` before `place`; with a head for a place, at the list's end. */
static inline void list_add_before(struct list *node, struct list *place)
{
	struct list *before = place->prev;

	node->prev = before;
	node->next = place;
	before->next = node;
	place->prev = node;
}

static inline void list_add_head(struct list *node, struct list *head)
{
	list_add_before(node, head->next);
}

/* Takes `node` out; it is an empty list then, and may be taken out again. */
static inline void list_del(struct list *node)
{
	struct list *before = node->prev, *after = node->next;

	before->next = after;
	after->prev = before;
	list_init(node);
}

#define list_entry(node, type, member) container_of(node, type, member)
#define list_for_each(node, head)                                                                  \
	for ((node) = (head)->next; (node) != (head); (node) = (node)->next)
/* As list_for_each, but the body may take `node` out. */
#define list_for_each_safe(node, after, head)                                                      \
	for ((node) = (head)->next, (after) = (node)->next; (node) != (head);                      \
	     (node) = (after), (after) = (node)->next)

#endif
