/*
 * The other side of the network's test: a program of the host's that sends packets to a serving
 * guest, and wants back the ones that should come back, as they should, in order, and no others.
 *
 *   network port                  prints a UDP port that nobody listens on
 *   network expected KIND COUNT   what the guest must say that it saw, in the words of ../network.c
 *   network udp PORT COUNT        COUNT packets through QEMU's user network
 *   network frames FOLDER COUNT   Ethernet frames, by QEMU's netdev `dgram`: FOLDER/card and
 *                                 FOLDER/host are its sockets. An ARP request and COUNT packets;
 *                                 the second half of them among four times as many that the guest
 *                                 must not answer, or that break every rule.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_S 20
#define PAYLOAD_MOST 1472
#define FRAME_MOST 65000
#define WINDOW 8 /* packets on their way at once */
#define BAD_EACH 4
#define OUR_PORT 4242

#define ARP_SIZE 42
#define HEADERS 42 /* Ethernet, IPv4, UDP */

/* Offsets in a frame: Ethernet */
#define AT_TO 0
#define AT_FROM 6
#define AT_TYPE 12
/* ARP */
#define AT_ARP 14
#define AT_OPERATION 20
#define AT_ARP_FROM_MAC 22
#define AT_ARP_FROM 28
#define AT_ARP_TO_MAC 32
#define AT_ARP_TO 38
/* IPv4 */
#define AT_IP 14
#define AT_LENGTH 16
#define AT_ID 18
#define AT_FRAGMENT 20
#define AT_HOPS 22
#define AT_PROTOCOL 23
#define AT_IP_SUM 24
#define AT_IP_FROM 26
#define AT_IP_TO 30
/* UDP */
#define AT_UDP 34
#define AT_PORT_FROM 34
#define AT_PORT_TO 36
#define AT_UDP_LENGTH 38
#define AT_UDP_SUM 40

struct station {
	uint8_t mac[6], address[4];
	uint16_t port;
};

static struct station guest = { { 0x52, 0x54, 0x00, 0x12, 0x34, 0x56 }, { 10, 0, 2, 15 }, 7 };
static struct station us = { { 0x52, 0x55, 0x0a, 0x00, 0x02, 0x02 }, { 10, 0, 2, 2 }, OUR_PORT };
static unsigned malformed, ignored;
static uint64_t random_state = 1;

struct frame {
	uint8_t bytes[FRAME_MOST];
	size_t length;
};

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	exit(1);
}

/* xorshift64* (Vigna 2016) */
static uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dull >> 33) % limit;
}

static void put16(struct frame *frame, size_t at, uint16_t value)
{
	frame->bytes[at] = value >> 8;
	frame->bytes[at + 1] = value;
}

static uint16_t get16(const struct frame *frame, size_t at)
{
	return frame->bytes[at] << 8 | frame->bytes[at + 1];
}

/* ---- Frames. ---- */

static uint16_t internet_checksum(uint32_t sum, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		sum += i % 2 ? data[i] : data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void sum_ip(struct frame *frame)
{
	put16(frame, AT_IP_SUM, 0);
	put16(frame, AT_IP_SUM, internet_checksum(0, frame->bytes + AT_IP, 20));
}

static void sum_udp(struct frame *frame)
{
	uint32_t pseudo_header = 17 + get16(frame, AT_UDP_LENGTH);
	uint16_t sum;

	put16(frame, AT_UDP_SUM, 0);
	sum = internet_checksum(pseudo_header, frame->bytes + AT_IP_FROM,
				frame->length - AT_IP_FROM);
	put16(frame, AT_UDP_SUM, sum ? sum : 0xffff);
}

static void make_ethernet(struct frame *frame, const struct station *from, const struct station *to,
			  uint16_t type)
{
	memcpy(frame->bytes + AT_TO, to->mac, 6);
	memcpy(frame->bytes + AT_FROM, from->mac, 6);
	put16(frame, AT_TYPE, type);
}

/* Packet `number`: its length, content and identification follow from that. Every third has no UDP
 * checksum. */
static void make_packet(struct frame *frame, const struct station *from, const struct station *to,
			unsigned number)
{
	size_t payload = number * 37 % (PAYLOAD_MOST + 1);

	memset(frame->bytes, 0, HEADERS);
	frame->length = HEADERS + payload;
	for (size_t i = 0; i < payload; i++)
		frame->bytes[HEADERS + i] = number + i * 7;
	make_ethernet(frame, from, to, 0x0800);
	frame->bytes[AT_IP] = 0x45;
	put16(frame, AT_LENGTH, frame->length - AT_IP);
	put16(frame, AT_ID, number);
	frame->bytes[AT_HOPS] = 64;
	frame->bytes[AT_PROTOCOL] = 17;
	memcpy(frame->bytes + AT_IP_FROM, from->address, 4);
	memcpy(frame->bytes + AT_IP_TO, to->address, 4);
	put16(frame, AT_PORT_FROM, from->port);
	put16(frame, AT_PORT_TO, to->port);
	put16(frame, AT_UDP_LENGTH, frame->length - AT_UDP);
	if (number % 3)
		sum_udp(frame);
	sum_ip(frame);
}

static void make_arp(struct frame *frame, const struct station *from, const struct station *to,
		     uint16_t operation)
{
	static const uint8_t ethernet_and_ipv4[] = { 0, 1, 8, 0, 6, 4 };

	frame->length = ARP_SIZE;
	make_ethernet(frame, from, to, 0x0806);
	memcpy(frame->bytes + AT_ARP, ethernet_and_ipv4, sizeof(ethernet_and_ipv4));
	put16(frame, AT_OPERATION, operation);
	memcpy(frame->bytes + AT_ARP_FROM_MAC, from->mac, 6);
	memcpy(frame->bytes + AT_ARP_FROM, from->address, 4);
	memcpy(frame->bytes + AT_ARP_TO_MAC, to->mac, 6);
	memcpy(frame->bytes + AT_ARP_TO, to->address, 4);
}

/* ---- What may be wrong with a frame: each makes a sound packet one that gets no answer. ---- */

static void cut_short(struct frame *f)
{
	f->length = 1 + random_below(f->length - 1);
}

static void too_long(struct frame *f)
{
	f->length = 1515 + random_below(500);
}

static void random_ip(struct frame *f)
{
	for (size_t i = AT_IP; i < f->length; i++)
		f->bytes[i] = random_below(256);
}

static void wrong_version(struct frame *f)
{
	f->bytes[AT_IP] = 0x65;
	sum_ip(f);
}

static void header_too_short(struct frame *f)
{
	f->bytes[AT_IP] = 0x44;
	sum_ip(f);
}

static void header_too_long(struct frame *f)
{
	f->length = HEADERS;
	put16(f, AT_LENGTH, f->length - AT_IP);
	f->bytes[AT_IP] = 0x4f;
	sum_ip(f);
}

static void huge_length(struct frame *f)
{
	put16(f, AT_LENGTH, 0xffff);
	sum_ip(f);
}

static void length_one_more(struct frame *f)
{
	put16(f, AT_LENGTH, f->length - AT_IP + 1);
	sum_ip(f);
}

static void no_length(struct frame *f)
{
	put16(f, AT_LENGTH, random_below(20));
	sum_ip(f);
}

static void no_room_for_udp(struct frame *f)
{
	put16(f, AT_LENGTH, 20 + random_below(8));
	sum_ip(f);
}

static void wrong_ip_sum(struct frame *f)
{
	put16(f, AT_IP_SUM, get16(f, AT_IP_SUM) + 1);
}

static void huge_udp_length(struct frame *f)
{
	put16(f, AT_UDP_LENGTH, 0xffff);
}

static void no_udp_length(struct frame *f)
{
	put16(f, AT_UDP_LENGTH, random_below(8));
}

static void wrong_udp_sum(struct frame *f)
{
	sum_udp(f);
	f->bytes[AT_UDP_SUM] ^= 0x55;
}

static void sent_by_a_group(struct frame *f)
{
	f->bytes[AT_FROM] |= 1;
}

static void arp_of_another_kind(struct frame *f)
{
	make_arp(f, &us, &guest, 1);
	f->bytes[AT_ARP + random_below(6)] ^= 0xff;
}

static void to_another_station(struct frame *f)
{
	f->bytes[AT_TO + 5] ^= 1;
}

static void to_another_address(struct frame *f)
{
	f->bytes[AT_IP_TO + 3] ^= 1;
	sum_ip(f);
}

static void to_another_port(struct frame *f)
{
	put16(f, AT_PORT_TO, 8);
	put16(f, AT_UDP_SUM, 0);
}

static void from_an_echo_server(struct frame *f)
{
	put16(f, AT_PORT_FROM, 7);
	put16(f, AT_UDP_SUM, 0);
}

static void from_a_group(struct frame *f)
{
	f->bytes[AT_IP_FROM] = 224 + random_below(32);
	sum_ip(f);
}

static void from_itself(struct frame *f)
{
	memcpy(f->bytes + AT_IP_FROM, guest.address, 4);
	sum_ip(f);
}

static void of_another_type(struct frame *f)
{
	put16(f, AT_TYPE, 0x86dd);
}

static void of_another_protocol(struct frame *f)
{
	f->bytes[AT_PROTOCOL] = 6;
	sum_ip(f);
}

static void fragment(struct frame *f)
{
	put16(f, AT_FRAGMENT, 1u << random_below(14));
	sum_ip(f);
}

static void arp_answer(struct frame *f)
{
	make_arp(f, &us, &guest, 2);
}

static void arp_for_another(struct frame *f)
{
	make_arp(f, &us, &guest, 1);
	f->bytes[AT_ARP_TO + 3] ^= 1;
}

static const struct fault {
	void (*spoil)(struct frame *frame);
	unsigned *count; /* as what the guest counts it */
} faults[] = {
	{ cut_short, &malformed }, { too_long, &malformed }, { random_ip, &malformed },
	{ wrong_version, &malformed }, { header_too_short, &malformed },
	{ header_too_long, &malformed }, { huge_length, &malformed },
	{ length_one_more, &malformed }, { no_length, &malformed },
	{ no_room_for_udp, &malformed }, { wrong_ip_sum, &malformed },
	{ huge_udp_length, &malformed }, { no_udp_length, &malformed },
	{ wrong_udp_sum, &malformed }, { sent_by_a_group, &malformed },
	{ arp_of_another_kind, &malformed },
	{ to_another_station, &ignored }, { to_another_address, &ignored },
	{ to_another_port, &ignored }, { from_an_echo_server, &ignored }, { from_a_group, &ignored },
	{ from_itself, &ignored }, { of_another_type, &ignored }, { of_another_protocol, &ignored },
	{ fragment, &ignored }, { arp_answer, &ignored }, { arp_for_another, &ignored },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static void make_bad(struct frame *frame, unsigned number)
{
	make_packet(frame, &us, &guest, number);
	faults[number % FAULTS].spoil(frame);
}

/* ---- Sockets. ---- */

static void be_patient(int fd)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

static void send_frame(int fd, const struct frame *frame)
{
	if (send(fd, frame->bytes, frame->length, 0) != (ssize_t)frame->length)
		fail("sending %zu bytes: %s", frame->length, strerror(errno));
}

static void expect_frame(int fd, const struct frame *wanted, unsigned number)
{
	static struct frame got;
	ssize_t length = recv(fd, got.bytes, sizeof(got.bytes), 0);

	if (length < 0)
		fail("packet %u did not come back: %s", number, strerror(errno));
	if ((size_t)length != wanted->length || memcmp(got.bytes, wanted->bytes, wanted->length))
		fail("instead of packet %u, of %zu bytes, %zd others came", number, wanted->length,
		     length);
}

static void expect_nothing(int fd)
{
	uint8_t byte;

	if (recv(fd, &byte, 1, MSG_DONTWAIT) >= 0)
		fail("the guest answered more than it should");
}

static struct sockaddr_un in_folder(const char *folder, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, name) >=
	    sizeof(address.sun_path))
		fail("%s: too long for a socket's name", folder);
	return address;
}

static int connect_card(const char *folder)
{
	struct sockaddr_un host = in_folder(folder, "host"), card = in_folder(folder, "card");
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&host, sizeof(host)) ||
	    connect(fd, (struct sockaddr *)&card, sizeof(card)))
		fail("%s: %s", folder, strerror(errno));
	be_patient(fd);
	return fd;
}

static struct sockaddr_in local(unsigned port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static void print_free_port(void)
{
	struct sockaddr_in address = local(0);
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) ||
	    getsockname(fd, (struct sockaddr *)&address, &size))
		fail("a UDP port: %s", strerror(errno));
	printf("%u\n", ntohs(address.sin_port));
}

/* ---- The two tests. ---- */

/* One after the other, each when the one before has come back. */
static void exchange_frames(int fd, unsigned from, unsigned to)
{
	static struct frame packet;

	for (unsigned i = from; i < to; i++) {
		make_packet(&packet, &us, &guest, i);
		send_frame(fd, &packet);
		make_packet(&packet, &guest, &us, i);
		expect_frame(fd, &packet, i);
	}
}

/* Several on their way, and bad ones before each. */
static void flood(int fd, unsigned from, unsigned to)
{
	static struct frame packet;
	unsigned sent = from, back = from, bad = 0;

	while (back < to) {
		while (sent < to && sent - back < WINDOW) {
			for (unsigned i = 0; i < BAD_EACH; i++, bad++) {
				make_bad(&packet, bad);
				send_frame(fd, &packet);
			}
			make_packet(&packet, &us, &guest, sent++);
			send_frame(fd, &packet);
		}
		make_packet(&packet, &guest, &us, back);
		expect_frame(fd, &packet, back++);
	}
}

static void test_frames(const char *folder, unsigned count)
{
	static const struct station all = {
		.mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, .address = { 10, 0, 2, 15 },
	};
	static struct frame frame;
	int fd = connect_card(folder);

	make_arp(&frame, &us, &all, 1);
	send_frame(fd, &frame);
	make_arp(&frame, &guest, &us, 2);
	expect_frame(fd, &frame, 0);
	exchange_frames(fd, 0, count / 2);
	flood(fd, count / 2, count);
	expect_nothing(fd);
}

static void test_udp(unsigned port, unsigned count)
{
	struct sockaddr_in address = local(port);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		fail("UDP port %u: %s", port, strerror(errno));
	be_patient(fd);
	for (unsigned i = 0; i < count; i++) {
		static struct frame packet;

		packet.length = 1 + i * 37 % PAYLOAD_MOST; /* QEMU's user network drops empty ones */
		for (size_t j = 0; j < packet.length; j++)
			packet.bytes[j] = i + j * 7;
		send_frame(fd, &packet);
		expect_frame(fd, &packet, i);
	}
	expect_nothing(fd);
}

static void print_expected(const char *kind, unsigned count)
{
	if (!strcmp(kind, "frames"))
		for (unsigned bad = 0; bad < (count - count / 2) * BAD_EACH; bad++)
			++*faults[bad % FAULTS].count;
	printf("network: answered 1 ARP, %u UDP; not %u malformed, %u ignored, 0 without room\n", count,
	       malformed, ignored);
}

int main(int argc, char **argv)
{
	unsigned count = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;

	if (argc == 2 && !strcmp(argv[1], "port"))
		print_free_port();
	else if (count && !strcmp(argv[1], "expected"))
		print_expected(argv[2], count);
	else if (count && !strcmp(argv[1], "udp"))
		test_udp(strtoul(argv[2], NULL, 10), count);
	else if (count && !strcmp(argv[1], "frames"))
		test_frames(argv[2], count);
	else
		fail("usage: network port | expected KIND COUNT | udp PORT COUNT | frames FOLDER COUNT");
	return 0;
}
