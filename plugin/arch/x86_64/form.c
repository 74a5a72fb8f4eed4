/*
 * An instruction's form, read from its bytes. Source: Intel SDM volume 2, chapter 2.
 */
#include "arch/x86_64/form.h"

/* What was read of an instruction so far. */
struct progress {
	const uint8_t *at, *end;
	unsigned int map, prefix, wide;
	bool locked;
};

static void read_prefixes(struct progress *now)
{
	for (; now->at + 1 < now->end; now->at++) {
		switch (*now->at) {
		case 0x66:
			now->prefix = now->prefix ? now->prefix : 1;
			break;
		case 0xf3:
			now->prefix = 2;
			break;
		case 0xf2:
			now->prefix = 3;
			break;
		case 0xf0:
			now->locked = true;
			break;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x67:
			break;
		default:
			if (*now->at >> 4 != 4)
				return;
			now->wide = *now->at >> 3 & 1;
			now->at++;
			return;
		}
	}
}

/* A VEX prefix: Intel SDM volume 2, 2.3.5. */
static void read_vex(struct progress *now)
{
	bool three = *now->at == 0xc4;
	uint8_t last = now->at[three ? 2 : 1];

	now->map = VEX_MAPS + (three ? now->at[1] & 3 : 1);
	now->wide = three ? last >> 7 : 0;
	now->prefix = last & 3;
	now->at += three ? 3 : 2;
}

static void read_map(struct progress *now)
{
	if (*now->at != 0x0f)
		return;
	now->map = 1;
	now->at++;
	if (now->at + 1 < now->end && (*now->at == 0x38 || *now->at == 0x3a)) {
		now->map = *now->at == 0x38 ? 2 : 3;
		now->at++;
	}
}

struct form form_of(const struct instruction *instruction)
{
	struct progress now = {
		.at = instruction->bytes, .end = instruction->bytes + instruction->length,
	};
	const struct form none = { .map = CLASS_MAPS };
	uint8_t next;

	read_prefixes(&now);
	if (now.locked)
		return (struct form){ .map = CLASS_MAPS, .locked = true };
	if ((*now.at & 0xfe) == 0xc4 && now.at + 3 < now.end)
		read_vex(&now);
	else
		read_map(&now);
	if (now.at >= now.end || now.map >= CLASS_MAPS)
		return none;
	next = now.at + 1 < now.end ? now.at[1] : 0;
	return (struct form){
		.map = now.map, .opcode = *now.at,
		.number = (now.prefix << 1 | now.wide) << 8 | next,
	};
}
