/* What may be wrong with a frame: each fault makes a sound packet one that gets no answer. */
#include "frame.h"
#include <string.h>

static uint64_t random_state = 1;

/* xorshift64* (Vigna 2016) */
static uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dull >> 33) % limit;
}

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
	enum refusal refusal;
} faults[] = {
	{ cut_short, MALFORMED }, { too_long, MALFORMED }, { random_ip, MALFORMED },
	{ wrong_version, MALFORMED }, { header_too_short, MALFORMED },
	{ header_too_long, MALFORMED }, { huge_length, MALFORMED },
	{ length_one_more, MALFORMED }, { no_length, MALFORMED },
	{ no_room_for_udp, MALFORMED }, { wrong_ip_sum, MALFORMED },
	{ huge_udp_length, MALFORMED }, { no_udp_length, MALFORMED },
	{ wrong_udp_sum, MALFORMED }, { sent_by_a_group, MALFORMED },
	{ arp_of_another_kind, MALFORMED },
	{ to_another_station, IGNORED }, { to_another_address, IGNORED },
	{ to_another_port, IGNORED }, { from_an_echo_server, IGNORED }, { from_a_group, IGNORED },
	{ from_itself, IGNORED }, { of_another_type, IGNORED }, { of_another_protocol, IGNORED },
	{ fragment, IGNORED }, { arp_answer, IGNORED }, { arp_for_another, IGNORED },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

void make_bad(struct frame *frame, unsigned number)
{
	make_packet(frame, &us, &guest, number);
	faults[number % FAULTS].spoil(frame);
}

enum refusal refusal_of(unsigned number)
{
	return faults[number % FAULTS].refusal;
}
