/*
 * The order of locks, checked at run time; see lockdep.h.
 *
 * A class is a row of the table in TRICKS.md, "Lock order". Locks are told apart by the file and
 * the expression that takes them: it costs them no memory, and a new lock without a class is found
 * the first time it is taken. What is held is kept by CPU, since the run queue's lock is taken by
 * one task and let go of by the next.
 */
#ifdef LAB_DEBUG
#include "../x86/percpu.h"
#include "printk.h"
#include "sched.h"

#define MOST_HELD 16

enum kind { PLAIN, IRQSAVE };

/* file: the end of its name; NULL: any. */
struct lock_class {
	u32 rank;
	enum kind kind;
	const char *file, *text;
};

static const struct lock_class classes[] = {
	{ 1, PLAIN, NULL, "&tree_lock" },
	{ 1, PLAIN, NULL, "&node->lock" },
	{ 1, PLAIN, "pipe.c", "&pipe->lock" },
	{ 1, PLAIN, "futex.c", "&bucket->lock" },
	{ 1, PLAIN, NULL, "&group->itimer_lock" },
	{ 1, PLAIN, "ioctl.c", "&table_lock" },
	{ 1, PLAIN, "softirq.c", "&take_lock" },
	{ 2, PLAIN, "file.c", "&files->lock" },
	{ 2, PLAIN, "file.c", "&from->lock" },
	{ 3, PLAIN, NULL, "&mm->lock" },
	{ 3, PLAIN, "mm.c", "&from->lock" },
	{ 4, PLAIN, "mm_shared.c", "&shared->lock" },
	{ 5, PLAIN, "smp.c", "&flush_request.lock" },
	{ 6, IRQSAVE, NULL, "&tasks_lock" },
	{ 7, IRQSAVE, "wait.c", "&queue->lock" },
	{ 7, IRQSAVE, "softirq_test.c", "&device->lock" },
	{ 7, IRQSAVE, "virtio_net.c", "&card.lock" },
	{ 8, IRQSAVE, "sched.c", "&rq->lock" },
	{ 8, IRQSAVE, "sched.c", "&cpu->rq.lock" },
	{ 8, IRQSAVE, "sched.c", "&other->rq.lock" },
	{ 8, IRQSAVE, "sched.c", "&best->rq.lock" },
	{ 8, IRQSAVE, "time.c", "&cpu->timer_lock" },
	{ 9, IRQSAVE, "kmalloc.c", "&lock" },
	{ 9, IRQSAVE, "random.c", "&lock" },
	{ 10, IRQSAVE, "page.c", "&lock" },
	{ 11, IRQSAVE, NULL, "&console_lock" },
};

/* What a CPU holds, in the order in which it took it. */
static struct held {
	u32 count;
	struct {
		const struct spinlock *lock;
		const struct lock_class *class;
		const char *file;
	} lock[MOST_HELD];
} held[MAX_CPUS];

static bool on;

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static const struct lock_class *class_of(const char *file, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (strcmp(text, classes[i].text) == 0 &&
		    (!classes[i].file || ends_with(file, classes[i].file)))
			return &classes[i];
	return NULL;
}

/* What it is about is told without locks of our own in the way. */
#define complain(...)                                                                              \
	do {                                                                                       \
		on = false;                                                                        \
		panic("lock order: " __VA_ARGS__);                                                 \
	} while (0)

static void check(const struct held *held, const struct lock_class *class, const char *file,
		  bool irqs_on)
{
	for (u32 i = 0; i < held->count; i++)
		if (held->lock[i].class->rank >= class->rank)
			complain("%s (%s) is taken while %s (%s) is held", class->text, file,
				 held->lock[i].class->text, held->lock[i].file);
	if (class->kind == IRQSAVE && irqs_on)
		complain("%s (%s) is taken with interrupts on", class->text, file);
	/* Idle tasks have no stack of their own to tell; at boot they take plain locks with
	 * interrupts off, rightly. */
	if (class->kind == PLAIN && !irqs_on && current->kstack)
		complain("%s (%s) is taken with interrupts off", class->text, file);
}

void lockdep_take(struct spinlock *lock, const struct lock_class **class, const char *file,
		  const char *text)
{
	u64 flags = read_flags();
	struct held *own;

	if (!on)
		return;
	if (!*class && !(*class = class_of(file, text)))
		complain("%s (%s) has no place in it (lockdep.c, TRICKS.md)", text, file);
	irq_disable();
	own = &held[this_cpu()->number];
	check(own, *class, file, flags & FLAG_IF);
	if (own->count == MOST_HELD)
		complain("%s (%s) is one lock too many", text, file);
	own->lock[own->count].lock = lock;
	own->lock[own->count].class = *class;
	own->lock[own->count].file = file;
	own->count++;
	irq_restore(flags);
}

void lockdep_drop(struct spinlock *lock)
{
	u64 flags = irq_save();
	struct held *own = &held[this_cpu()->number];
	u32 i = own->count;

	while (i > 0 && own->lock[i - 1].lock != lock)
		i--;
	if (on && i == 0)
		complain("a lock at %p is let go of that this CPU does not hold", (void *)lock);
	if (i > 0) {
		own->count--;
		memmove(&own->lock[i - 1], &own->lock[i],
			(own->count - i + 1) * sizeof(own->lock[0]));
	}
	irq_restore(flags);
}

void lockdep_assert_none(const char *file, int line)
{
	u64 flags = irq_save();
	const struct held *own = &held[this_cpu()->number];

	if (on && own->count)
		complain("%s (%s) is held at %s:%d, where one may sleep",
			 own->lock[own->count - 1].class->text,
			 own->lock[own->count - 1].file, file, line);
	irq_restore(flags);
}

void lockdep_start(void)
{
	on = true;
}

void lockdep_test(const char *command_line)
{
	static struct spinlock tree_lock, tasks_lock;
	static const char word[] = "test.lock-order";
	u64 flags;

	for (; strncmp(command_line, word, sizeof(word) - 1) != 0; command_line++)
		if (!*command_line)
			return;
	flags = spin_lock_irqsave(&tasks_lock);
	spin_lock(&tree_lock);
	spin_unlock(&tree_lock);
	spin_unlock_irqrestore(&tasks_lock, flags);
}
#endif
