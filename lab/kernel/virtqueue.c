/* See virtqueue.h. x86 keeps stores in order, and loads; barrier() makes the compiler do so. */
#include "virtqueue.h"

#define DEVICE_WRITES 2   /* a descriptor's flag */
#define NO_INTERRUPT 1    /* the available ring's */

_Static_assert(VIRTQUEUE_SIZE == 64, "a bit each in held");

void virtqueue_init(struct virtqueue *queue, struct virtqueue_memory *memory, bool interrupts)
{
	*queue = (struct virtqueue){ .memory = memory };
	memory->available_flags = interrupts ? 0 : NO_INTERRUPT;
}

int virtqueue_free_buffer(const struct virtqueue *queue)
{
	return ~queue->held ? __builtin_ctzll(~queue->held) : VIRTQUEUE_NONE;
}

static void give(struct virtqueue *queue, int buffer, struct virtqueue_descriptor descriptor)
{
	struct virtqueue_memory *memory = queue->memory;

	queue->held |= 1ull << buffer;
	memory->descriptors[buffer] = descriptor;
	memory->available[queue->given % VIRTQUEUE_SIZE] = buffer;
	barrier();
	WRITE_ONCE(memory->available_index, ++queue->given);
}

void virtqueue_give_to_read(struct virtqueue *queue, int buffer, u64 address, u32 length)
{
	queue->length[buffer] = 0;
	give(queue, buffer, (struct virtqueue_descriptor){ address, length, 0, 0 });
}

void virtqueue_give_to_write(struct virtqueue *queue, int buffer, u64 address, u32 length)
{
	queue->length[buffer] = length;
	give(queue, buffer, (struct virtqueue_descriptor){ address, length, DEVICE_WRITES, 0 });
}

int virtqueue_take(struct virtqueue *queue, u32 *written)
{
	const struct virtqueue_memory *memory = queue->memory;
	const struct virtqueue_used *used = &memory->used[queue->taken % VIRTQUEUE_SIZE];
	u16 waiting = READ_ONCE(memory->used_index) - queue->taken;
	u32 buffer;

	if (!waiting)
		return VIRTQUEUE_NONE;
	barrier();
	buffer = READ_ONCE(used->descriptor);
	*written = READ_ONCE(used->written);
	if (waiting > (u16)(queue->given - queue->taken) || buffer >= VIRTQUEUE_SIZE ||
	    !(queue->held >> buffer & 1) || *written > queue->length[buffer])
		return VIRTQUEUE_BROKEN;
	queue->held &= ~(1ull << buffer);
	queue->taken++;
	return buffer;
}
