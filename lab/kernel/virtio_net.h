/* The network card, if QEMU gave the machine one; virtio_net.c. */
#ifndef LAB_VIRTIO_NET_H
#define LAB_VIRTIO_NET_H

#include "types.h"

/* Finds it by the command line and starts it; without one does nothing. Once, at boot. */
void virtio_net_init(void);
/* Writes a struct lab_network to the program's memory: 0, -EFAULT; -ENODEV without a card. */
bool virtio_net_has_card(void); /* after virtio_net_init() */
i64 virtio_net_statistics(u64 to);

#endif
