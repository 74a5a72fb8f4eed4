/*
 * Rewrites calls and short sequences in the kernel's text; see patch.h. Only at boot, by the one
 * CPU that runs, before text is made read-only; nothing that is rewritten runs meanwhile.
 */
#include "patch.h"
#include "../kernel/variants.h"
#include "../kernel/printk.h"
#include "cpu.h"

#define CALL_LENGTH 5
#define OPCODE_CALL 0xe8
#define OPCODE_JUMP_SHORT 0xeb
#define OPCODE_NOP 0x90
#define LONGEST_NOP 9

extern const struct static_call_site static_calls_start[], static_calls_end[];
extern const struct alternative alternatives_start[], alternatives_end[];

/* Intel SDM volume 2, NOP: the recommended forms of 1 to 9 bytes. */
static const u8 nops[LONGEST_NOP][LONGEST_NOP] = {
	{ 0x90 },
	{ 0x66, 0x90 },
	{ 0x0f, 0x1f, 0x00 },
	{ 0x0f, 0x1f, 0x40, 0x00 },
	{ 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	{ 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	{ 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 },
	{ 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
	{ 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
};

/* Fills `length` bytes so that running over them takes one instruction, or none. */
static void fill(u8 *at, u32 length)
{
	if (length > LONGEST_NOP) {
		at[0] = OPCODE_JUMP_SHORT;
		at[1] = length - 2;
		memset(at + 2, OPCODE_NOP, length - 2);
	} else if (length) {
		memcpy(at, nops[length - 1], length);
	}
}

unsigned static_call_patch(const void *key, const void *function)
{
	unsigned sites = 0;

	for (const struct static_call_site *s = static_calls_start; s < static_calls_end; s++) {
		u8 *at = (u8 *)s->address;
		i32 distance = (u64)function - (s->address + CALL_LENGTH);

		if (s->key != (u64)key)
			continue;
		sites++;
		if (!function) {
			fill(at, CALL_LENGTH);
			continue;
		}
		at[0] = OPCODE_CALL;
		memcpy(at + 1, &distance, sizeof(distance));
	}
	return sites;
}

/* The site's own sequence is followed by one-byte nops, where the replacement is longer. */
static u32 own_length(const struct alternative *a)
{
	u32 length = a->site_length;

	while (length && ((const u8 *)a->site)[length - 1] == OPCODE_NOP)
		length--;
	return length;
}

/* Bit n: feature n, of ALTERNATIVE_*. */
static u64 chosen_features(void)
{
	u64 chosen = 0;

	if (variants.irq_restore == IRQ_RESTORE_STI_IF)
		chosen |= 1ul << ALTERNATIVE_STI_IF;
	if (cpu_features.smap && variants.smap)
		chosen |= 1ul << ALTERNATIVE_SMAP;
	return chosen;
}

void alternatives_apply(void)
{
	const u64 chosen = chosen_features();

	for (const struct alternative *a = alternatives_start; a < alternatives_end; a++) {
		u8 *at = (u8 *)a->site;
		u32 length = own_length(a);

		assert(a->replacement_length <= a->site_length);
		if (chosen >> a->feature & 1) {
			length = a->replacement_length;
			memcpy(at, (const void *)a->replacement, length);
		}
		fill(at + length, a->site_length - length);
	}
}
