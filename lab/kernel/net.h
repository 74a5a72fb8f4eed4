/*
 * What the kernel answers on the network: ARP requests for its address, and UDP to port 7, which it
 * sends back (RFC 862). There are no sockets.
 */
#ifndef LAB_NET_H
#define LAB_NET_H

#include "types.h"

#define NET_FRAME_MOST 1514 /* Ethernet header and 1500 bytes; no checksum after them */

enum net_verdict {
	NET_ARP_ANSWER,  /* the frame became its answer */
	NET_ECHO,        /* likewise */
	NET_MALFORMED,   /* a length, a checksum or a version is wrong */
	NET_IGNORED,     /* not for us, or nothing that we answer */
	NET_VERDICTS,
};

/* Makes the frame of `*length` bytes its answer, in place, for the station `mac`. `*length` becomes
 * the answer's; without an answer it means nothing, and part of the frame may have been changed. */
enum net_verdict net_answer(const u8 mac[6], u8 *frame, u32 *length);

#endif
