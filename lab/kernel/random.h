/*
 * Numbers that look random: getrandom(2), /dev/urandom, AT_RANDOM. They repeat exactly from boot to
 * boot, as a lab wants it, and nothing here is a secret.
 */
#ifndef LAB_RANDOM_H
#define LAB_RANDOM_H

#include "types.h"

u64 random_next(void);
/* Makes what follows depend on `bits` too. */
void random_mix(u64 bits);

#endif
