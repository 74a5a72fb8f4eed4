/* The FPU's and SSE's registers as fxsave stores them (Intel SDM volume 1, 10.5). */
#ifndef LAB_FPU_H
#define LAB_FPU_H

#include "../kernel/types.h"

struct fpu_state {
	u16 control, status;
	u8 tags; /* bit n: physical register n is not empty */
	u8 reserved;
	u16 opcode;
	u64 instruction, data;
	u32 mxcsr, mxcsr_mask;
	u8 st[8][16];
	u8 xmm[16][16];
	u8 available[96];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct fpu_state) == 512, "Intel SDM");
_Static_assert(offsetof(struct fpu_state, mxcsr) == 24, "Intel SDM");

#endif
