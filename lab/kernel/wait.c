/*
 * Wait queues: tasks that sleep until they are told that a condition may have changed.
 *
 * A waiter stays in the queue until wait_finish(), woken or not, and must check its
 * condition again each time: wake-ups may be spurious. TRICKS.md, "Lost wake-ups", has the
 * argument why none is missed.
 */
#include "sched.h"

void wait_queue_init(struct wait_queue *queue)
{
	*queue = (struct wait_queue)WAIT_QUEUE_INIT(*queue);
}

void wait_prepare(struct wait_queue *queue)
{
	struct task *task = current;
	u64 flags = spin_lock_irqsave(&queue->lock);

	if (list_empty(&task->wait))
		list_add_before(&task->wait, &queue->waiters);
	/* A full barrier: the state is seen by others before we look at the condition. */
	__atomic_store_n(&task->state, TASK_SLEEPING, __ATOMIC_SEQ_CST);
	spin_unlock_irqrestore(&queue->lock, flags);
}

void wait_finish(struct wait_queue *queue)
{
	struct task *task = current;
	u64 flags;

	task->state = TASK_RUNNING;
	flags = spin_lock_irqsave(&queue->lock);
	list_del(&task->wait);
	spin_unlock_irqrestore(&queue->lock, flags);
}

void wake_up_all(struct wait_queue *queue)
{
	struct list *node;
	u64 flags = spin_lock_irqsave(&queue->lock);

	list_for_each(node, &queue->waiters)
		wake_up_task(list_entry(node, struct task, wait));
	spin_unlock_irqrestore(&queue->lock, flags);
}
