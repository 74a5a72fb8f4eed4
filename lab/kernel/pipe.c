/*
 * Pipes (pipe(7)): a ring of bytes between two open files.
 *
 * The pipe's lock is plain and comes before the lock of an address space: bytes are copied from and
 * to programs under it, which may fault but never sleeps. Sleepers get into their queue with the
 * lock held, so who changes the ring under the lock sees them all.
 */
#include "../x86/usercopy.h"
#include "file.h"
#include "page.h"
#include "sched.h"
#include "syscall.h"

#define RING_ORDER 2
#define RING_SIZE (PAGE_SIZE << RING_ORDER) /* 16 KiB */
#define PIPE_BUF 4096 /* writes of at most so many bytes are not torn apart */

struct pipe {
	struct spinlock lock;
	bool has_reader, has_writer; /* open files */
	u32 written, read;           /* bytes ever, modulo 2^32; their difference is in the ring */
	struct wait_queue changed;
	u8 *ring;
};

static u32 filled(const struct pipe *pipe) { return pipe->written - pipe->read; }
static u32 room(const struct pipe *pipe) { return RING_SIZE - filled(pipe); }

/* A condition to wait for; `need`: bytes. */
typedef bool (*pipe_condition)(const struct pipe *pipe, u32 need);

static bool readable(const struct pipe *pipe, u32 need)
{
	return filled(pipe) > 0 || !pipe->has_writer;
}

static bool writable(const struct pipe *pipe, u32 need)
{
	return room(pipe) >= need || !pipe->has_reader;
}

/* Sleeps, without the lock, until the condition holds, and holds the lock again; 0, -EAGAIN for a
 * file that does not wait, or -ERESTARTSYS. */
static i64 wait_for(struct pipe *pipe, pipe_condition condition, u32 need, u32 flags)
{
	if (likely(condition(pipe, need)))
		return 0;
	if (flags & O_NONBLOCK)
		return -EAGAIN;
	wait_prepare(&pipe->changed);
	while (!condition(pipe, need) && !signal_pending()) {
		spin_unlock(&pipe->lock);
		schedule();
		spin_lock(&pipe->lock);
		wait_prepare(&pipe->changed);
	}
	wait_finish(&pipe->changed);
	return condition(pipe, need) ? 0 : -ERESTARTSYS;
}

static void wake(struct pipe *pipe)
{
	if (!list_empty(&pipe->changed.waiters))
		wake_up_all(&pipe->changed);
}

/* Copies up to `count` bytes out of the ring: how many it were. */
static u64 take(struct pipe *pipe, u64 buffer, u64 count)
{
	u64 done = 0;

	count = min(count, filled(pipe));
	while (done < count) {
		u32 at = pipe->read % RING_SIZE;
		u64 part = min(count - done, RING_SIZE - at);
		u64 left = copy_to_user(buffer + done, pipe->ring + at, part);

		pipe->read += part - left;
		done += part - left;
		if (left)
			break;
	}
	return done;
}

/* Copies up to `count` bytes into the ring: how many it were. */
static u64 put(struct pipe *pipe, u64 buffer, u64 count)
{
	u64 done = 0;

	count = min(count, room(pipe));
	while (done < count) {
		u32 at = pipe->written % RING_SIZE;
		u64 part = min(count - done, RING_SIZE - at);
		u64 left = copy_from_user(pipe->ring + at, buffer + done, part);

		pipe->written += part - left;
		done += part - left;
		if (left)
			break;
	}
	return done;
}

static i64 pipe_read(struct file *file, u64 buffer, u64 count, u64 *position)
{
	struct pipe *pipe = file->data;
	i64 result;

	if (count == 0)
		return 0;
	spin_lock(&pipe->lock);
	result = wait_for(pipe, readable, 0, file->flags);
	if (result == 0 && filled(pipe) > 0) {
		result = take(pipe, buffer, count);
		if (result == 0)
			result = -EFAULT;
		wake(pipe);
	}
	spin_unlock(&pipe->lock);
	return result;
}

/* Writes some bytes, with the lock held: how many, or why none. */
static i64 write_some(struct pipe *pipe, u64 buffer, u64 count, u32 flags)
{
	i64 result = wait_for(pipe, writable, count <= PIPE_BUF ? count : 1, flags);
	u64 done;

	if (result < 0)
		return result;
	if (!pipe->has_reader)
		return -EPIPE;
	done = put(pipe, buffer, count);
	wake(pipe);
	return done ? (i64)done : -EFAULT;
}

static void broken_pipe(void)
{
	struct signal_info info = { .number = SIGPIPE, .code = SI_USER };
	u64 flags = spin_lock_irqsave(&tasks_lock);

	signal_send_task(current, &info);
	spin_unlock_irqrestore(&tasks_lock, flags);
}

static i64 pipe_write(struct file *file, u64 buffer, u64 count, u64 *position)
{
	struct pipe *pipe = file->data;
	u64 done = 0;
	i64 result = 0;

	spin_lock(&pipe->lock);
	/* What is left of a long write may be torn apart: it asks for less than PIPE_BUF only in
	 * its last part, which then goes in as one piece. */
	while (done < count && result >= 0) {
		result = write_some(pipe, buffer + done, count - done, file->flags);
		if (result > 0)
			done += result;
	}
	spin_unlock(&pipe->lock);
	if (result == -EPIPE)
		broken_pipe();
	return done ? (i64)done : result;
}

static void pipe_free(struct pipe *pipe)
{
	page_free(pipe->ring, RING_ORDER);
	kfree(pipe);
}

/* The last descriptor of one end is gone; with the second end goes the pipe. */
static void release(struct file *file, bool *has)
{
	struct pipe *pipe = file->data;
	bool last;

	spin_lock(&pipe->lock);
	*has = false;
	last = !pipe->has_reader && !pipe->has_writer;
	wake(pipe);
	spin_unlock(&pipe->lock);
	if (last)
		pipe_free(pipe);
}

static void release_reader(struct file *file)
{
	release(file, &((struct pipe *)file->data)->has_reader);
}

static void release_writer(struct file *file)
{
	release(file, &((struct pipe *)file->data)->has_writer);
}

static const struct file_operations reader_operations = {
	.read = pipe_read,
	.release = release_reader,
};

static const struct file_operations writer_operations = {
	.write = pipe_write,
	.release = release_writer,
};

static struct pipe *pipe_new(void)
{
	struct pipe *pipe = kzalloc(sizeof(*pipe));

	if (!pipe)
		return NULL;
	wait_queue_init(&pipe->changed);
	pipe->ring = page_alloc(RING_ORDER);
	if (pipe->ring)
		return pipe;
	kfree(pipe);
	return NULL;
}

i64 pipe_create(u32 flags, struct file **reader, struct file **writer)
{
	struct pipe *pipe = pipe_new();

	if (!pipe)
		return -ENOMEM;
	*reader = file_create(&reader_operations, O_RDONLY | flags, pipe);
	if (!*reader) {
		pipe_free(pipe);
		return -ENOMEM;
	}
	pipe->has_reader = true;
	*writer = file_create(&writer_operations, O_WRONLY | flags, pipe);
	if (!*writer) {
		file_put(*reader);
		return -ENOMEM;
	}
	pipe->has_writer = true;
	return 0;
}
