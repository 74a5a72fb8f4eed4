/*
 * kernel/virtqueue.c against devices that do what they should, and devices that don't. A program of
 * the host's: QEMU's card never lies.
 */
#include "../../kernel/virtqueue.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 100000
#define LENGTH 2048

#define expect(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);             \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static struct virtqueue_memory memory;
static struct virtqueue queue;
static u16 device_seen; /* of the available ring */

static void begin(unsigned buffers)
{
	memset(&memory, 0, sizeof(memory));
	virtqueue_init(&queue, &memory, true);
	device_seen = 0;
	for (unsigned i = 0; i < buffers; i++)
		virtqueue_give_to_write(&queue, i, 0x1000 + i, LENGTH);
}

/* As the device: hands back what it likes. */
static void use(u32 descriptor, u32 written)
{
	memory.used[memory.used_index % VIRTQUEUE_SIZE] =
		(struct virtqueue_used){ descriptor, written };
	memory.used_index++;
}

/* Buffers go round for longer than the rings' indices take to wrap, in the device's order. */
static void an_honest_device_gives_each_buffer_back(void)
{
	u32 held[VIRTQUEUE_SIZE], count = 0, written;

	begin(0);
	srand(1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		int buffer;
		u32 pick;

		while ((buffer = virtqueue_free_buffer(&queue)) >= 0 && rand() % 8)
			virtqueue_give_to_write(&queue, buffer, buffer, LENGTH);
		while (device_seen != memory.available_index)
			held[count++] = memory.available[device_seen++ % VIRTQUEUE_SIZE];
		expect(count <= VIRTQUEUE_SIZE);
		if (!count) {
			expect(virtqueue_take(&queue, &written) == VIRTQUEUE_NONE);
			continue;
		}
		pick = rand() % count;
		use(held[pick], i % (LENGTH + 1));
		expect(virtqueue_take(&queue, &written) == (int)held[pick]);
		expect(written == i % (LENGTH + 1));
		held[pick] = held[--count];
	}
}

static void a_full_queue_has_no_free_buffer(void)
{
	begin(VIRTQUEUE_SIZE);
	expect(virtqueue_free_buffer(&queue) == VIRTQUEUE_NONE);
}

static void no_buffer_that_there_is_not(void)
{
	static const u32 wild[] = { VIRTQUEUE_SIZE, VIRTQUEUE_SIZE + 1, 0x10000, 0x80000000, ~0u };
	u32 written;

	for (unsigned i = 0; i < ARRAY_SIZE(wild); i++) {
		begin(VIRTQUEUE_SIZE);
		use(wild[i], 0);
		expect(virtqueue_take(&queue, &written) == VIRTQUEUE_BROKEN);
	}
}

static void no_buffer_that_it_was_not_given(void)
{
	u32 written;

	begin(3);
	use(3, 0);
	expect(virtqueue_take(&queue, &written) == VIRTQUEUE_BROKEN);
}

static void no_buffer_twice(void)
{
	u32 written;

	begin(3);
	use(1, 0);
	expect(virtqueue_take(&queue, &written) == 1);
	use(1, 0);
	expect(virtqueue_take(&queue, &written) == VIRTQUEUE_BROKEN);
}

static void no_more_than_there_was_room(void)
{
	u32 written;

	begin(2);
	use(0, LENGTH);
	expect(virtqueue_take(&queue, &written) == 0 && written == LENGTH);
	use(1, LENGTH + 1);
	expect(virtqueue_take(&queue, &written) == VIRTQUEUE_BROKEN);
	begin(0);
	virtqueue_give_to_read(&queue, 0, 0x1000, LENGTH);
	use(0, 1);
	expect(virtqueue_take(&queue, &written) == VIRTQUEUE_BROKEN);
}

/* The index alone may claim it: forwards, or back. */
static void no_more_buffers_than_it_has(void)
{
	u32 written;

	begin(2);
	memory.used_index = 3;
	expect(virtqueue_take(&queue, &written) == VIRTQUEUE_BROKEN);
	begin(2);
	memory.used_index = (u16)-1;
	expect(virtqueue_take(&queue, &written) == VIRTQUEUE_BROKEN);
}

int main(void)
{
	an_honest_device_gives_each_buffer_back();
	a_full_queue_has_no_free_buffer();
	no_buffer_that_there_is_not();
	no_buffer_that_it_was_not_given();
	no_buffer_twice();
	no_more_than_there_was_room();
	no_more_buffers_than_it_has();
	printf("ok    a virtio queue believes no device\n");
	return 0;
}
