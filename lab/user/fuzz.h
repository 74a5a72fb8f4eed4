/* Random system calls by children: that no call and no argument breaks the kernel. */
#ifndef USER_FUZZ_H
#define USER_FUZZ_H

#include <stdint.h>

/* Children make random system calls for `seconds` of the kernel's clock; tells how many
 * were made. */
void fuzz(unsigned seconds, uint64_t seed);

#endif
