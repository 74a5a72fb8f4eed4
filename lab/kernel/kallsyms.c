/* Names for addresses, for back traces: a search through the text, fast enough for a panic. */
#include "kallsyms.h"

#include "printk.h"

#define ADDRESS_DIGITS 16
#define TYPE_AT (ADDRESS_DIGITS + 1)
#define NAME_AT (ADDRESS_DIGITS + 3)
#define NAME_MOST 64

static u64 parse_address(const char *digits)
{
	u64 value = 0;

	for (int i = 0; i < ADDRESS_DIGITS; i++)
		value = value << 4 | (digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
	return value;
}

/* The line after this one, or the end. */
static const char *next_line(const char *line)
{
	while (line < kallsyms_end && *line != '\n')
		line++;
	return line < kallsyms_end ? line + 1 : line;
}

/* The line of the last code symbol at or before `address`, or NULL. */
static const char *find_line(u64 address)
{
	const char *found = NULL;

	for (const char *line = kallsyms_start; line < kallsyms_end; line = next_line(line)) {
		if (parse_address(line) > address)
			break;
		if ((line[TYPE_AT] | 0x20) == 't')
			found = line;
	}
	return found;
}

void kallsyms_name(u64 address, char *out, size_t size)
{
	const char *line = find_line(address);
	char name[NAME_MOST];
	size_t length;

	if (!line) {
		snprintf(out, size, "?");
		return;
	}
	length = min((size_t)(next_line(line) - 1 - (line + NAME_AT)), sizeof(name) - 1);
	memcpy(name, line + NAME_AT, length);
	name[length] = '\0';
	snprintf(out, size, "%s+0x%lx", name, address - parse_address(line));
}
