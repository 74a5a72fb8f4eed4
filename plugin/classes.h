/*
 * Which instructions are events: the host decides that (crates/trace/src/classes.rs), and hands a
 * table over. Here an instruction's place in the table is found.
 *
 * The table: 8 bytes `PMCL\1`, the number of classes, the class of an instruction with a `lock`
 * prefix; then for each opcode of which some form has a class: its map, the opcode, and a class
 * for each of FORMS. A class is its number from 1; 0 is none. A form is the prefix among none,
 * 0x66, 0xf3 and 0xf2, whether the operand has 64 bits, and the byte after the opcode.
 */
#ifndef PLUGIN_CLASSES_H
#define PLUGIN_CLASSES_H

#include "common.h"
#include "x86.h"

enum { MOST_CLASSES = 64, FORMS = 2048 };
/* Maps of opcodes: one byte; 0x0f; 0x0f 0x38; 0x0f 0x3a; and the last three with a VEX prefix. */
enum { VEX_MAPS = 3, CLASS_MAPS = 7 };

static struct {
	uint8_t count;
	uint8_t locked;
	uint8_t *of[CLASS_MAPS][256];	/* FORMS for each opcode; NULL if none has a class */
} classes;

/* Reads the table; false if it is none. */
static bool read_classes(int fd)
{
	static const uint8_t HEADER[8] = "PMCL\1";
	FILE *file = lseek(fd, 0, SEEK_SET) ? NULL : fdopen(fd, "r");
	uint8_t head[sizeof(HEADER) + 2], opcode[2];
	bool good;

	if (!file)
		return false;
	good = fread(head, sizeof(head), 1, file) == 1 && !memcmp(head, HEADER, sizeof(HEADER));
	classes.count = good ? head[8] : 0;
	classes.locked = good ? head[9] : 0;
	good = good && classes.count <= MOST_CLASSES && classes.locked <= classes.count;
	while (good && fread(opcode, sizeof(opcode), 1, file) == 1) {
		uint8_t *forms = malloc(FORMS);

		good = forms && opcode[0] < CLASS_MAPS && fread(forms, FORMS, 1, file) == 1;
		for (size_t i = 0; good && i < FORMS; i++)
			good = forms[i] <= classes.count;
		if (good)
			classes.of[opcode[0]][opcode[1]] = forms;
		else
			free(forms);
	}
	fclose(file);
	return good;
}

/* What of an instruction decides on its class, as far as it was read. */
struct form {
	const uint8_t *at, *end;
	unsigned int map, prefix, wide;
	bool locked;
};

static void read_prefixes(struct form *form)
{
	for (; form->at + 1 < form->end; form->at++) {
		switch (*form->at) {
		case 0x66:
			form->prefix = form->prefix ? form->prefix : 1;
			break;
		case 0xf3:
			form->prefix = 2;
			break;
		case 0xf2:
			form->prefix = 3;
			break;
		case 0xf0:
			form->locked = true;
			break;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x67:
			break;
		default:
			if (*form->at >> 4 != 4)
				return;
			form->wide = *form->at >> 3 & 1;
			form->at++;
			return;
		}
	}
}

/* A VEX prefix: Intel SDM volume 2, 2.3.5. */
static void read_vex(struct form *form)
{
	bool three = *form->at == 0xc4;
	uint8_t last = form->at[three ? 2 : 1];

	form->map = VEX_MAPS + (three ? form->at[1] & 3 : 1);
	form->wide = three ? last >> 7 : 0;
	form->prefix = last & 3;
	form->at += three ? 3 : 2;
}

static void read_map(struct form *form)
{
	if (*form->at != 0x0f)
		return;
	form->map = 1;
	form->at++;
	if (form->at + 1 < form->end && (*form->at == 0x38 || *form->at == 0x3a)) {
		form->map = *form->at == 0x38 ? 2 : 3;
		form->at++;
	}
}

/* The number of the instruction's class, from 1; 0 if it has none. */
static unsigned int class_of(const struct instruction *instruction)
{
	struct form form = {
		.at = instruction->bytes, .end = instruction->bytes + instruction->length,
	};
	const uint8_t *forms;

	read_prefixes(&form);
	if (form.locked)
		return classes.locked;
	if ((*form.at & 0xfe) == 0xc4 && form.at + 3 < form.end)
		read_vex(&form);
	else
		read_map(&form);
	if (form.at >= form.end || form.map >= CLASS_MAPS)
		return 0;
	forms = classes.of[form.map][*form.at];
	return forms ? forms[(form.prefix << 1 | form.wide) << 8 |
			     (form.at + 1 < form.end ? form.at[1] : 0)] : 0;
}

#endif
