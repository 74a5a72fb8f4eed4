/* Sound frames: UDP in IPv4, and ARP. */
#include "frame.h"
#include <string.h>

const struct station guest = { { 0x52, 0x54, 0x00, 0x12, 0x34, 0x56 }, { 10, 0, 2, 15 }, 7 };
const struct station us = { { 0x52, 0x55, 0x0a, 0x00, 0x02, 0x02 }, { 10, 0, 2, 2 }, 4242 };

void put16(struct frame *frame, size_t at, uint16_t value)
{
	frame->bytes[at] = value >> 8;
	frame->bytes[at + 1] = value;
}

uint16_t get16(const struct frame *frame, size_t at)
{
	return frame->bytes[at] << 8 | frame->bytes[at + 1];
}

static uint16_t internet_checksum(uint32_t sum, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		sum += i % 2 ? data[i] : data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

void sum_ip(struct frame *frame)
{
	put16(frame, AT_IP_SUM, 0);
	put16(frame, AT_IP_SUM, internet_checksum(0, frame->bytes + AT_IP, 20));
}

void sum_udp(struct frame *frame)
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

void make_packet(struct frame *frame, const struct station *from, const struct station *to,
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

void make_arp(struct frame *frame, const struct station *from, const struct station *to,
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
