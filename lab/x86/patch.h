/*
 * Choosing among mechanisms once, at boot, at no cost on the path: calls and short sequences are
 * rewritten in the kernel's text before it is made read-only. The idea is Linux's static calls and
 * alternatives (include/linux/static_call.h, arch/x86/include/asm/alternative.h).
 *
 * A static call is a plain 5-byte `call` of the default function, whose name is also its key:
 *
 *   static_call(iobitmap_switch, prev, next);                   C: two arguments, a u64 result
 *                                                               (static_call0: none; static_call3)
 *   STATIC_CALL sysenter_clean_flags                            assembly
 *   static_call_patch(iobitmap_switch, switch_copy);            at boot, before text_protect()
 *
 * Patched with NULL the call becomes one 5-byte nop; its result is then not to be used.
 *
 * An alternative is a short sequence in place of another, for a feature that was chosen:
 *
 *   ALTERNATIVE("push %0; popf", "test $0x200, %0; jz 9f; sti; 9:", ALTERNATIVE_STI_IF)
 *
 * The longer of the two makes the site's length; what is over is filled with long nops, after a
 * jump over them if there is more than one, so a site costs what its sequence has.
 */
#ifndef LAB_PATCH_H
#define LAB_PATCH_H

#define ALTERNATIVE_STI_IF 0 /* irq-restore=sti-if */
#define ALTERNATIVE_SMAP 1   /* the CPU has SMAP, and smap=on: stac and clac instead of nothing */

#ifdef __ASSEMBLER__

.macro STATIC_CALL key
771:	call \key
	.pushsection .static_calls, "a"
	.quad 771b, \key
	.popsection
.endm

/* One instruction of three bytes where `feature` was chosen, else nothing. */
.macro IF_CHOSEN feature, instruction
771:	.skip 3, 0x90
	.pushsection .alternatives, "a"
	.quad 771b, 773f
	.long 3, 3
	.quad \feature
	.popsection
	.pushsection .alternative_text, "a"
773:	\instruction
	.popsection
.endm

#else
#include "../kernel/types.h"

/* Records of the two sections; the linker script gives their bounds. */
struct static_call_site {
	u64 address; /* of the call */
	u64 key;     /* the default function */
};

struct alternative {
	u64 site;
	u64 replacement;
	u32 site_length, replacement_length; /* bytes */
	u64 feature;                         /* ALTERNATIVE_* */
};

_Static_assert(sizeof(struct alternative) == 32, "ALTERNATIVE() below writes it");

#define STATIC_CALL_SITE(key)                                                                      \
	"771: call " #key "\n"                                                                     \
	".pushsection .static_calls, \"a\"\n"                                                     \
	".quad 771b, " #key "\n"                                                                   \
	".popsection"

#define static_call0(key)                                                                          \
	__asm__ volatile(STATIC_CALL_SITE(key) ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9",  \
			 "r10", "r11", "memory", "cc")

#define static_call3(key, a, b, c)                                                                 \
	({                                                                                         \
		u64 static_a = (u64)(a), static_b = (u64)(b), static_c = (u64)(c), static_result;  \
		__asm__ volatile(STATIC_CALL_SITE(key)                                             \
				 : "=a"(static_result), "+D"(static_a), "+S"(static_b),            \
				   "+d"(static_c)                                                  \
				 :                                                                 \
				 : "rcx", "r8", "r9", "r10", "r11", "memory", "cc");               \
		static_result;                                                                     \
	})

#define static_call(key, a, b)                                                                     \
	({                                                                                         \
		u64 static_a = (u64)(a), static_b = (u64)(b), static_result;                       \
		__asm__ volatile(STATIC_CALL_SITE(key)                                             \
				 : "=a"(static_result), "+D"(static_a), "+S"(static_b)             \
				 :                                                                 \
				 : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");        \
		static_result;                                                                     \
	})

/* The text of an asm statement: `old` by default, `new` where `feature` was chosen. */
#define ALTERNATIVE(old, new, feature)                                                             \
	"771: " old "\n"                                                                           \
	"772: .skip -(((774f - 773f) - (772b - 771b)) > 0) *"                                      \
	" ((774f - 773f) - (772b - 771b)), 0x90\n"                                                 \
	"775:\n"                                                                                   \
	".pushsection .alternatives, \"a\"\n"                                                      \
	".quad 771b, 773f\n"                                                                       \
	".long 775b - 771b, 774f - 773f\n"                                                         \
	".quad " #feature "\n"                                                                     \
	".popsection\n"                                                                            \
	".pushsection .alternative_text, \"a\"\n"                                                  \
	"773: " new "\n"                                                                           \
	"774:\n"                                                                                   \
	".popsection\n"

/* Points all calls of `key` to `function`; NULL makes them nops. Returns the number of sites. */
unsigned static_call_patch(const void *key, const void *function);
/* Rewrites the sites whose feature this boot has, by variant or CPU, and fills the rest's slack
 * with long nops. */
void alternatives_apply(void);
#endif

#endif
