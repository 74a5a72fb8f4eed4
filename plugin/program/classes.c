/*
 * The table of classes, and the place of an instruction in it.
 */
#include "program/classes.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"

struct classes classes;

bool read_classes(int fd)
{
	static const uint8_t HEADER[8] = "PMCL\3";
	FILE *file = lseek(fd, 0, SEEK_SET) ? NULL : fdopen(fd, "r");
	uint8_t head[sizeof(HEADER) + 3 + TURNS], opcode[2];
	bool good;

	if (!file)
		return false;
	good = fread(head, sizeof(head), 1, file) == 1 && !memcmp(head, HEADER, sizeof(HEADER));
	classes.count = good ? head[8] : 0;
	classes.locked = good ? head[9] : 0;
	classes.mispredicted = good ? head[10] : 0;
	good = good && classes.count <= MOST_CLASSES && classes.locked <= classes.count &&
	       classes.mispredicted <= classes.count;
	for (size_t i = 0; good && i < TURNS; i++) {
		classes.turns[i] = head[sizeof(HEADER) + 3 + i];
		good = classes.turns[i] && classes.turns[i] <= classes.count;
	}
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

unsigned int class_of(const struct instruction *instruction)
{
	const struct form form = form_of(instruction);
	const uint8_t *forms = form.map < CLASS_MAPS ? classes.of[form.map][form.opcode] : NULL;

	if (form.locked)
		return classes.locked;
	return forms ? forms[form.number] : 0;
}

bool is_turn(unsigned int class)
{
	bool is = false;

	for (size_t i = 0; i < TURNS; i++)
		is |= classes.turns[i] == class;
	return is;
}
