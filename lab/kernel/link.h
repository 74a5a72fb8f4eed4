/* A modelled link: what LAB_ROUND_TRIP does. */
#ifndef LAB_LINK_H
#define LAB_LINK_H

#include "types.h"

/* At boot. With a network card NET_RX is the card's, and there is no link. */
void link_init(void);
i64 lab_round_trip(u64 argument);

#endif
