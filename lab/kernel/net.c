/*
 * ARP and UDP echo, from one frame to its answer. Plain functions of bytes: no locks, no state, and
 * nothing of the kernel, so the tests run them on the host as well.
 *
 * A frame is anyone's bytes. Each length in it is checked against the bytes that are there before
 * it is used, and the frame must not change meanwhile: the driver's copy is passed, not memory that
 * the device writes.
 *
 * The address is that which QEMU's user network gives its first guest. IPv4 options and fragments
 * are not answered, nor is an echo server: two would never stop (RFC 862 does not mention it; CERT
 * CA-1996-01 does).
 *
 * Sources: RFC 826 (ARP), 791 (IPv4), 768 (UDP), 1071 (checksums), 862 (echo).
 */
#include "net.h"

#define be16(value) __builtin_bswap16(value)

#define ETHERNET_IPV4 be16(0x0800)
#define ETHERNET_ARP be16(0x0806)
#define ARP_ETHERNET be16(1)
#define ARP_REQUEST be16(1)
#define ARP_REPLY be16(2)
#define IPV4_20_BYTES 0x45 /* version 4, a header of 5 words */
#define IPV4_FRAGMENT be16(0x3fff) /* more fragments, or an offset */
#define IPV4_UDP 17
#define HOPS 64
#define ECHO_PORT be16(7)

struct ethernet {
	u8 to[6], from[6];
	u16 type;
} __attribute__((packed));

struct arp {
	struct ethernet ethernet;
	u16 hardware, protocol;
	u8 hardware_length, protocol_length;
	u16 operation;
	u8 from_mac[6], from[4];
	u8 to_mac[6], to[4];
} __attribute__((packed));

struct ipv4 {
	struct ethernet ethernet;
	u8 version_length, service;
	u16 length; /* with this header */
	u16 identification, fragment;
	u8 hops, protocol;
	u16 checksum;
	u8 from[4], to[4];
} __attribute__((packed));

struct udp {
	struct ipv4 ip;
	u16 from, to;
	u16 length; /* with this header */
	u16 checksum; /* 0: none */
} __attribute__((packed));

#define UDP_HEADER (sizeof(struct udp) - sizeof(struct ipv4))
#define ADDRESSES offsetof(struct ipv4, from)
#define ADDRESSES_SIZE 8
#define IPV4_HEADER (sizeof(struct ipv4) - sizeof(struct ethernet))

_Static_assert(sizeof(struct ethernet) == 14, "IEEE 802.3");
_Static_assert(sizeof(struct arp) == 42, "RFC 826");
_Static_assert(ADDRESSES + ADDRESSES_SIZE == sizeof(struct ipv4), "one sum takes both");
_Static_assert(sizeof(struct ipv4) == 34 && sizeof(struct udp) == 42, "RFC 791, 768");

static const u8 address[4] = { 10, 0, 2, 15 };
static const u8 broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

static bool same(const u8 *a, const u8 *b, u32 length)
{
	return memcmp(a, b, length) == 0;
}

/* Adds the big-endian words of `data`; of an odd last byte, the word that it begins. */
static u32 sum(u32 so_far, const u8 *data, u32 length)
{
	for (; length > 1; data += 2, length -= 2)
		so_far += data[0] << 8 | data[1];
	return length ? so_far + (data[0] << 8) : so_far;
}

/* 0 of a sum with its checksum in it, if that was right; else the checksum. */
static u16 checksum(u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void answer_ethernet(const u8 mac[6], struct ethernet *frame)
{
	memcpy(frame->to, frame->from, 6);
	memcpy(frame->from, mac, 6);
}

static enum net_verdict answer_arp(const u8 mac[6], struct arp *arp, u32 *length)
{
	if (*length < sizeof(*arp) || arp->hardware != ARP_ETHERNET ||
	    arp->protocol != ETHERNET_IPV4 || arp->hardware_length != 6 ||
	    arp->protocol_length != 4)
		return NET_MALFORMED;
	if (arp->operation != ARP_REQUEST || !same(arp->to, address, 4))
		return NET_IGNORED;
	answer_ethernet(mac, &arp->ethernet);
	arp->operation = ARP_REPLY;
	memcpy(arp->to_mac, arp->from_mac, 6);
	memcpy(arp->to, arp->from, 4);
	memcpy(arp->from_mac, mac, 6);
	memcpy(arp->from, address, 4);
	*length = sizeof(*arp);
	return NET_ARP_ANSWER;
}

static bool ipv4_is_sound(const struct ipv4 *ip, u32 length)
{
	const u8 *header = &ip->version_length;
	u32 header_length = (ip->version_length & 15) * 4;

	return length >= sizeof(*ip) && ip->version_length >> 4 == 4 &&
	       header_length >= IPV4_HEADER && be16(ip->length) >= header_length &&
	       be16(ip->length) <= length - sizeof(struct ethernet) &&
	       checksum(sum(0, header, header_length)) == 0;
}

/* The IPv4 header is sound and has no options. */
static bool udp_is_sound(const struct udp *udp)
{
	u32 length = be16(udp->length);
	u32 pseudo_header = IPV4_UDP + length;
	const u8 *addresses = (const u8 *)udp + ADDRESSES;

	if (be16(udp->ip.length) < IPV4_HEADER + UDP_HEADER ||
	    length != be16(udp->ip.length) - IPV4_HEADER)
		return false;
	/* The addresses stand right before the UDP header, so one sum takes both. */
	return udp->checksum == 0 ||
	       checksum(sum(pseudo_header, addresses, ADDRESSES_SIZE + length)) == 0;
}

/* No station's address: of this network, of all or of a group; or our own. */
static bool is_no_sender(const u8 from[4])
{
	return from[0] == 0 || from[0] == 127 || from[0] >= 224 || same(from, address, 4);
}

static enum net_verdict answer_ipv4(const u8 mac[6], struct udp *udp, u32 *length)
{
	struct ipv4 *ip = &udp->ip;
	u16 port;

	if (!ipv4_is_sound(ip, *length))
		return NET_MALFORMED;
	if (!same(ip->ethernet.to, mac, 6) || !same(ip->to, address, 4) ||
	    is_no_sender(ip->from) || ip->version_length != IPV4_20_BYTES ||
	    ip->fragment & IPV4_FRAGMENT || ip->protocol != IPV4_UDP)
		return NET_IGNORED;
	if (!udp_is_sound(udp))
		return NET_MALFORMED;
	if (udp->to != ECHO_PORT || udp->from == ECHO_PORT || udp->from == 0)
		return NET_IGNORED;
	*length = sizeof(struct ethernet) + be16(ip->length);
	answer_ethernet(mac, &ip->ethernet);
	/* Sums don't depend on the order of words: UDP's stays right. */
	memcpy(ip->to, ip->from, 4);
	memcpy(ip->from, address, 4);
	port = udp->from;
	udp->from = udp->to;
	udp->to = port;
	ip->hops = HOPS;
	ip->checksum = 0;
	ip->checksum = be16(checksum(sum(0, &ip->version_length, IPV4_HEADER)));
	return NET_ECHO;
}

enum net_verdict net_answer(const u8 mac[6], u8 *frame, u32 *length)
{
	struct ethernet *ethernet = (struct ethernet *)frame;

	if (*length < sizeof(*ethernet) || *length > NET_FRAME_MOST || ethernet->from[0] & 1)
		return NET_MALFORMED;
	if (!same(ethernet->to, mac, 6) && !same(ethernet->to, broadcast, 6))
		return NET_IGNORED;
	if (ethernet->type == ETHERNET_ARP)
		return answer_arp(mac, (struct arp *)frame, length);
	if (ethernet->type == ETHERNET_IPV4)
		return answer_ipv4(mac, (struct udp *)frame, length);
	return NET_IGNORED;
}
