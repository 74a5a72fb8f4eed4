/*
 * A driver for virtio's network card on memory-mapped registers, as QEMU's microvm has it. There
 * are no sockets: what net.c answers is answered, so that a packet's round trip is one of the
 * card's interrupt, a softirq, and the way out again. The interrupt only acknowledges and raises.
 *
 * The machine tells of its card on the command line, `virtio_mmio.device=SIZE@ADDRESS:LINE`, in
 * Linux's form; QEMU appends the word itself. Without it nothing is looked for, mapped or set up.
 *
 * The card is believed no more than needed: virtqueue.c checks what it hands back, and a frame is
 * copied before it is read. A card found wrong is reset, and left alone.
 *
 * Source: OASIS Virtual I/O Device 1.1, 2.6, 3.1, 4.2, 5.1; Linux, Documentation/admin-guide/
 * kernel-parameters.txt (virtio_mmio.device).
 */
#include "virtio_net.h"
#include "../uapi/lab.h"
#include "../x86/desc.h"
#include "../x86/percpu.h"
#include "../x86/usercopy.h"
#include "../x86/x86.h"
#include "net.h"
#include "page.h"
#include "printk.h"
#include "softirq.h"
#include "syscall.h"
#include "virtqueue.h"

#define WORD "virtio_mmio.device="
#define REGISTERS_SIZE 0x200u
#define DEVICES_FROM 0xfe000000ul /* above all memory that is used, below the APICs */
#define DEVICES_TO 0xfec00000ul

/* Registers (4.2.2) */
#define MAGIC 0x000
#define VERSION 0x004
#define DEVICE_ID 0x008
#define DEVICE_FEATURES 0x010
#define DEVICE_FEATURES_SELECT 0x014
#define DRIVER_FEATURES 0x020
#define DRIVER_FEATURES_SELECT 0x024
#define QUEUE_SELECT 0x030
#define QUEUE_SIZE_MOST 0x034
#define QUEUE_SIZE 0x038
#define QUEUE_READY 0x044
#define QUEUE_NOTIFY 0x050
#define INTERRUPT_STATUS 0x060
#define INTERRUPT_ACKNOWLEDGE 0x064
#define STATUS 0x070
#define QUEUE_DESCRIPTORS 0x080 /* addresses: low half, high half */
#define QUEUE_DRIVER 0x090
#define QUEUE_DEVICE 0x0a0
#define CONFIG_MAC 0x100

#define MAGIC_VIRT 0x74726976u
#define VERSION_1 2 /* 1 is the interface before virtio 1.0 */
#define DEVICE_ID_NETWORK 1

#define STATUS_ACKNOWLEDGE 1u
#define STATUS_DRIVER 2u
#define STATUS_DRIVER_OK 4u
#define STATUS_FEATURES_OK 8u

/* Feature bits, by word of 32 */
#define FEATURE_MAC (1u << 5)
#define FEATURE_VERSION_1 (1u << (32 - 32))

#define INTERRUPT_QUEUE 1u

#define RECEIVE 0 /* queue numbers */
#define TRANSMIT 1

#define BUFFER_SIZE 2048u
#define BUFFERS_ORDER 5 /* pages of VIRTQUEUE_SIZE buffers */

_Static_assert(BUFFER_SIZE * VIRTQUEUE_SIZE == PAGE_SIZE << BUFFERS_ORDER, "buffers");

/* Before each frame (5.1.6), zeroes when sent: nothing is left for the other side to do. */
struct header {
	u8 flags, segmentation;
	u16 header_length, segment_size, checksum_start, checksum_offset, buffers;
};

_Static_assert(sizeof(struct header) == 12, "virtio 1.1, 5.1.6");
_Static_assert(sizeof(struct header) + NET_FRAME_MOST <= BUFFER_SIZE, "a frame fits a buffer");

/* A queue and its buffers: number n at n * BUFFER_SIZE. */
struct buffered_queue {
	struct virtqueue ring;
	u8 *buffers;
};

static struct {
	struct spinlock lock; /* irqsave; over what changes, but `interrupts` */
	volatile u32 *registers; /* NULL: no card */
	u8 mac[6];
	bool broken;
	struct buffered_queue receive, transmit;
	struct lab_network counts;
	u64 interrupts; /* all on one CPU, so it counts them alone */
} card;

void virtio_net_interrupt(void);

static u32 get(u32 offset)
{
	return card.registers[offset / 4];
}

static void set(u32 offset, u32 value)
{
	card.registers[offset / 4] = value;
}

static void set_address(u32 offset, const void *address)
{
	u64 phys = virt_to_phys(address);

	set(offset, phys);
	set(offset + 4, phys >> 32);
}

/* ---- Packets; the card's lock is held. ---- */

static void stop(const char *reason)
{
	set(STATUS, 0); /* reset: it interrupts and writes no more */
	card.broken = true;
	printk("network: the card %s, and is not used any more\n", reason);
}

static u8 *buffer_of(struct buffered_queue *queue, int buffer)
{
	return queue->buffers + buffer * BUFFER_SIZE;
}

static void lend_to_receive(int buffer)
{
	virtqueue_give_to_write(&card.receive.ring, buffer,
				virt_to_phys(buffer_of(&card.receive, buffer)), BUFFER_SIZE);
}

/* Takes back what has been sent. */
static void reap_sent(void)
{
	u32 written;
	int buffer;

	while ((buffer = virtqueue_take(&card.transmit.ring, &written)) >= 0)
		card.counts.sent++;
	if (buffer == VIRTQUEUE_BROKEN)
		stop("sent what it was not given");
}

static u64 *count_of(enum net_verdict verdict)
{
	static u64 *const counts[NET_VERDICTS] = {
		[NET_ARP_ANSWER] = &card.counts.arp_answers,
		[NET_ECHO] = &card.counts.echoes,
		[NET_MALFORMED] = &card.counts.malformed,
		[NET_IGNORED] = &card.counts.ignored,
	};

	return counts[verdict];
}

/* Answers a frame from a copy in a buffer to be sent, which the card does not have. */
static void answer(const u8 *frame, u32 length)
{
	enum net_verdict verdict;
	int buffer;
	u8 *copy;

	reap_sent();
	buffer = virtqueue_free_buffer(&card.transmit.ring);
	if (card.broken || buffer == VIRTQUEUE_NONE) {
		card.counts.no_room++;
		return;
	}
	copy = buffer_of(&card.transmit, buffer) + sizeof(struct header);
	memcpy(copy, frame, length);
	verdict = net_answer(card.mac, copy, &length);
	++*count_of(verdict);
	if (verdict == NET_ECHO || verdict == NET_ARP_ANSWER)
		virtqueue_give_to_read(&card.transmit.ring, buffer,
				       virt_to_phys(copy) - sizeof(struct header),
				       sizeof(struct header) + length);
}

/* Whether there was a packet. */
static bool receive_one(void)
{
	u32 written;
	int buffer = virtqueue_take(&card.receive.ring, &written);

	if (buffer == VIRTQUEUE_BROKEN || (buffer >= 0 && written < sizeof(struct header)))
		stop("received where it was not asked to");
	if (buffer < 0 || card.broken)
		return false;
	answer(buffer_of(&card.receive, buffer) + sizeof(struct header),
	       written - sizeof(struct header));
	lend_to_receive(buffer);
	return !card.broken;
}

/* ---- The softirq and the interrupt. ---- */

/* NET_RX. The lock is let go of between packets, so interrupts wait for one at most; and after a
 * queue's length of them others have their turn. */
static void receive(void)
{
	unsigned packets = 0;
	bool more;
	u64 flags;

	if (!card.registers)
		return;
	do {
		flags = spin_lock_irqsave(&card.lock);
		more = !card.broken && receive_one();
		spin_unlock_irqrestore(&card.lock, flags);
	} while (more && ++packets < VIRTQUEUE_SIZE);
	if (!packets)
		return;
	set(QUEUE_NOTIFY, RECEIVE);
	set(QUEUE_NOTIFY, TRANSMIT);
	if (more)
		raise_softirq(LAB_NET_RX);
}

/* The line is level-triggered: it stays up until the card's reasons are acknowledged. */
void virtio_net_interrupt(void)
{
	u32 reasons = get(INTERRUPT_STATUS);

	WRITE_ONCE(card.interrupts, card.interrupts + 1);
	set(INTERRUPT_ACKNOWLEDGE, reasons);
	if (reasons & INTERRUPT_QUEUE)
		raise_softirq(LAB_NET_RX);
	apic_eoi();
}

bool virtio_net_has_card(void)
{
	return card.registers;
}

i64 virtio_net_statistics(u64 to)
{
	struct lab_network counts;
	u64 flags;

	if (!card.registers)
		return -ENODEV;
	flags = spin_lock_irqsave(&card.lock);
	if (!card.broken)
		reap_sent();
	counts = card.counts;
	counts.interrupts = READ_ONCE(card.interrupts);
	spin_unlock_irqrestore(&card.lock, flags);
	return copy_to_user(to, &counts, sizeof(counts)) ? -EFAULT : 0;
}

/* ---- Start. ---- */

static bool negotiate(void)
{
	u32 mac;

	set(STATUS, 0);
	set(STATUS, STATUS_ACKNOWLEDGE);
	set(STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER);
	set(DEVICE_FEATURES_SELECT, 0);
	mac = get(DEVICE_FEATURES) & FEATURE_MAC;
	set(DRIVER_FEATURES_SELECT, 0);
	set(DRIVER_FEATURES, mac);
	set(DRIVER_FEATURES_SELECT, 1);
	set(DRIVER_FEATURES, FEATURE_VERSION_1);
	set(STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK);
	return mac && get(STATUS) & STATUS_FEATURES_OK;
}

static bool queue_start(u32 number, struct buffered_queue *queue, bool interrupts)
{
	struct virtqueue_memory *memory = page_alloc_zeroed(0);

	queue->buffers = page_alloc_zeroed(BUFFERS_ORDER);
	if (!memory || !queue->buffers)
		panic("no memory for the network card");
	virtqueue_init(&queue->ring, memory, interrupts);
	set(QUEUE_SELECT, number);
	if (get(QUEUE_READY) || get(QUEUE_SIZE_MOST) < VIRTQUEUE_SIZE)
		return false;
	set(QUEUE_SIZE, VIRTQUEUE_SIZE);
	set_address(QUEUE_DESCRIPTORS, memory->descriptors);
	set_address(QUEUE_DRIVER, &memory->available_flags);
	set_address(QUEUE_DEVICE, &memory->used_flags);
	set(QUEUE_READY, 1);
	return true;
}

static void read_mac(void)
{
	const volatile u8 *config = (const volatile u8 *)card.registers + CONFIG_MAC;

	for (unsigned i = 0; i < sizeof(card.mac); i++)
		card.mac[i] = config[i];
}

static void card_start(u32 line)
{
	if (get(VERSION) != VERSION_1) {
		printk("network: the card is older than virtio 1.0; QEMU needs "
		       "-global virtio-mmio.force-legacy=false\n");
		card.registers = NULL;
		return;
	}
	if (!negotiate() || !queue_start(RECEIVE, &card.receive, true) ||
	    !queue_start(TRANSMIT, &card.transmit, false) ||
	    !ioapic_route(line, VECTOR_NETWORK, this_cpu()->apic_id)) {
		set(STATUS, 0);
		card.registers = NULL;
		printk("network: the card lacks what is needed\n");
		return;
	}
	read_mac();
	for (int i = 0; i < VIRTQUEUE_SIZE; i++)
		lend_to_receive(i);
	open_softirq(LAB_NET_RX, receive);
	set(STATUS, get(STATUS) | STATUS_DRIVER_OK);
	set(QUEUE_NOTIFY, RECEIVE);
	printk("network: 10.0.2.15 on line %u\n", line);
}

/* ---- The machine's word for it. ---- */

/* The digit's value; 16 or more if it is none. */
static u32 digit_value(char c)
{
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= '0' && c <= '9' ? c - '0' : 16;
}

/* A number of up to eight digits, decimal or with 0x hexadecimal; moves `*text` past it. */
static bool read_number(const char **text, u64 *number)
{
	u32 base = strncmp(*text, "0x", 2) == 0 ? 16 : 10, digits;

	*text += base == 16 ? 2 : 0;
	*number = 0;
	for (digits = 0; digits < 8 && digit_value(**text) < base; digits++)
		*number = *number * base + digit_value(*(*text)++);
	return digits > 0;
}

/* SIZE@ADDRESS:LINE and the word's end. */
static bool read_place(const char *text, u64 *address, u64 *line)
{
	u64 size;

	if (!read_number(&text, &size) || *text++ != '@' || !read_number(&text, address) ||
	    *text++ != ':' || !read_number(&text, line))
		return false;
	return (!*text || *text == ' ') && size == REGISTERS_SIZE && *address % size == 0 &&
	       *address >= DEVICES_FROM && *address < DEVICES_TO && *line < 256;
}

void virtio_net_init(void)
{
	for (const char *word = boot_info.command_line; *word; word++) {
		bool begins = word == boot_info.command_line || word[-1] == ' ';
		u64 address, line;

		if (!begins || strncmp(word, WORD, strlen(WORD)) != 0)
			continue;
		if (!read_place(word + strlen(WORD), &address, &line)) {
			printk("lab: bad command line: " WORD " wants 512@ADDRESS:LINE\n");
			machine_exit(1);
		}
		card.registers = device_map(address);
		if (get(MAGIC) == MAGIC_VIRT && get(DEVICE_ID) == DEVICE_ID_NETWORK) {
			card_start(line);
			return;
		}
		card.registers = NULL;
	}
}
