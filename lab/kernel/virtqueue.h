/*
 * A virtio queue in its split form, with one descriptor a buffer: descriptor n is always the
 * caller's buffer n. Not locked: the caller is.
 *
 * The device writes the used ring, and is not believed: it may hand back only what it was given, as
 * many as it was given, and may claim to have written no more than there was room. Else the
 * result is VIRTQUEUE_BROKEN, after which the queue must not be used again.
 *
 * Source: OASIS Virtual I/O Device 1.1, 2.6.
 */
#ifndef LAB_VIRTQUEUE_H
#define LAB_VIRTQUEUE_H

#include "types.h"

#define VIRTQUEUE_SIZE 64 /* a power of two, and the bits of `held` */
#define VIRTQUEUE_NONE (-1)
#define VIRTQUEUE_BROKEN (-2)

struct virtqueue_descriptor {
	u64 address; /* physical */
	u32 length;
	u16 flags;
	u16 next;
};

struct virtqueue_used {
	u32 descriptor;
	u32 written; /* bytes */
};

/* All three parts in one page, which the device sees. */
struct virtqueue_memory {
	struct virtqueue_descriptor descriptors[VIRTQUEUE_SIZE];
	u16 available_flags, available_index; /* the driver's */
	u16 available[VIRTQUEUE_SIZE];
	u16 available_event;
	u16 used_flags __attribute__((aligned(4))); /* the device's */
	u16 used_index;
	struct virtqueue_used used[VIRTQUEUE_SIZE];
	u16 used_event;
};

_Static_assert(sizeof(struct virtqueue_descriptor) == 16 && sizeof(struct virtqueue_used) == 8 &&
	       offsetof(struct virtqueue_memory, available_flags) % 2 == 0 &&
	       sizeof(struct virtqueue_memory) <= 4096, "virtio 1.1, 2.6");

struct virtqueue {
	struct virtqueue_memory *memory;
	u64 held;                   /* bit n: the device has buffer n */
	u32 length[VIRTQUEUE_SIZE]; /* bytes it may write there */
	u16 given, taken;           /* how often, as the rings count */
};

/* `memory` is zeroed. Without `interrupts` the device need not tell when it has used a buffer. */
void virtqueue_init(struct virtqueue *queue, struct virtqueue_memory *memory, bool interrupts);
/* A buffer that the device does not have, or VIRTQUEUE_NONE. */
int virtqueue_free_buffer(const struct virtqueue *queue);
/* Lends it the buffer, which it does not have, to read or to write. The device is not notified. */
void virtqueue_give_to_read(struct virtqueue *queue, int buffer, u64 address, u32 length);
void virtqueue_give_to_write(struct virtqueue *queue, int buffer, u64 address, u32 length);
/* Takes back a buffer that it has used, and how much it wrote there. */
int virtqueue_take(struct virtqueue *queue, u32 *written);

#endif
