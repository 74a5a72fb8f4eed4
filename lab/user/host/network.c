/*
 * The other side of the network's test: a program of the host's that sends packets to a serving
 * guest, and wants back the ones that should come back, as they should, in order, and no others.
 *
 *   network port                  prints a UDP port that nobody listens on
 *   network expected KIND COUNT   what the guest must report that it saw, in the words of
 *   ../network.c
 *   network udp PORT COUNT        COUNT packets through QEMU's user network
 *   network frames FOLDER COUNT   Ethernet frames, by QEMU's netdev `dgram`: FOLDER/card and
 *                                 FOLDER/host are its sockets. An ARP request and COUNT packets;
 *                                 the second half of them among four times as many that the guest
 *                                 must not answer, or that break every rule.
 */
#include "frame.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_S 20
#define WINDOW 8 /* packets on their way at once */
#define BAD_EACH 4

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	exit(1);
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

		/* QEMU's user network drops empty ones. */
		packet.length = 1 + i * 37 % PAYLOAD_MOST;
		for (size_t j = 0; j < packet.length; j++)
			packet.bytes[j] = i + j * 7;
		send_frame(fd, &packet);
		expect_frame(fd, &packet, i);
	}
	expect_nothing(fd);
}

static void print_expected(const char *kind, unsigned count)
{
	unsigned refused[REFUSALS] = { 0 };

	if (!strcmp(kind, "frames"))
		for (unsigned bad = 0; bad < (count - count / 2) * BAD_EACH; bad++)
			refused[refusal_of(bad)]++;
	printf("network: answered 1 ARP, %u UDP; not %u malformed, %u ignored, 0 without room\n",
	       count, refused[MALFORMED], refused[IGNORED]);
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
		fail("usage: network port | expected KIND COUNT | udp PORT COUNT | "
		     "frames FOLDER COUNT");
	return 0;
}
