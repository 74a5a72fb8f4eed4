/* Ethernet frames as the guest's network has them: making them, and spoiling them. */
#ifndef HOST_FRAME_H
#define HOST_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_MOST 65000
#define PAYLOAD_MOST 1472

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

extern const struct station guest, us;

struct frame {
	uint8_t bytes[FRAME_MOST];
	size_t length;
};

void put16(struct frame *frame, size_t at, uint16_t value);
uint16_t get16(const struct frame *frame, size_t at);
void sum_ip(struct frame *frame);
void sum_udp(struct frame *frame);
/* Packet `number`: its length, content and identification follow from that. Every third has no UDP
 * checksum. */
void make_packet(struct frame *frame, const struct station *from, const struct station *to,
		 unsigned number);
void make_arp(struct frame *frame, const struct station *from, const struct station *to,
	      uint16_t operation);

/* What the guest counts a frame as that it must not answer. */
enum refusal { MALFORMED, IGNORED, REFUSALS };

/* faults.c: a frame from us to the guest that gets no answer, the `number`th of a fixed series. */
void make_bad(struct frame *frame, unsigned number);
/* How the guest counts it. */
enum refusal refusal_of(unsigned number);

#endif
