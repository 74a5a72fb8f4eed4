/*
 * Boot-time variants from the command line: one table, in which the valid words, the defaults and
 * the listing that an error prints all have their source. Each mechanism's own file applies the
 * choice.
 *
 * Words are separated by blanks; of two with the same name the last counts. What the command line
 * gets wrong ends the machine with code 1 and a last line that begins with `lab: bad command
 * line:`; what is right but can't be had, on this CPU or together, with one that begins with `lab:
 * unsupported here:`.
 */
#include "../x86/percpu.h"
#include "variants.h"
#include "printk.h"

#define VALUES 8
#define WORD_SIZE 256 /* longest word that is read; `init=` takes no longer path */

struct variants variants;

struct mechanism {
	const char *name;
	const char *about;
	const char *values[VALUES + 1]; /* none: a number */
	u32 *chosen;                    /* index of the value, or the number */
	u32 initial;
	u32 lowest, highest;            /* of a number */
};

static const struct mechanism table[] = {
	{ "iobitmap", "what a switch does about I/O bitmaps",
	  { "short", "full-copy", "tracked", "lazy" },
	  &variants.iobitmap, IOBITMAP_LAZY, 0, 0 },
	{ "flags", "what a switch does about the flags register",
	  { "save", "constant", "iopl-only", "entry-clean" },
	  &variants.flags, FLAGS_ENTRY_CLEAN, 0, 0 },
	{ "irq-restore", "how the kernel enables interrupts again",
	  { "popf", "sti-if" }, &variants.irq_restore, IRQ_RESTORE_STI_IF, 0, 0 },
	{ "getcpu", "how the vDSO finds the CPU's number",
	  { "syscall", "cpuid", "lsl", "rdtscp", "rdpid", "sgdt", "sidt", "sldt" },
	  &variants.getcpu, GETCPU_LSL, 0, 0 },
	{ "getcpu-cache", "whether it uses the caller's cache, good for a tick",
	  { "off", "on" }, &variants.getcpu_cache, 0, 0, 0 },
	{ "getcpu-mode", "whether a variable chooses lsl or rdtscp at each call",
	  { "off", "on" }, &variants.getcpu_mode, 0, 0, 0 },
	{ "softirq", "which code runs softirqs that an interrupt raised",
	  { "syscall-return", "irq-once", "irq-return", "irq-exit", "thread" },
	  &variants.softirq, SOFTIRQ_IRQ_EXIT, 0, 0 },
	{ "idle", "how a CPU waits for work",
	  { "hlt", "poll" }, &variants.idle, IDLE_HLT, 0, 0 },
	{ "idle-check", "whether it checks for softirqs before it waits, and in each poll",
	  { "off", "on", "early" }, &variants.idle_check, IDLE_CHECK_ON, 0, 0 },
	{ "tick-check", "whether the tick raises one, and checks for softirqs at its end",
	  { "off", "on" }, &variants.tick_check, 1, 0, 0 },
	{ "umip", "whether sgdt, sidt, sldt are kept from programs, if the CPU can",
	  { "off", "on" }, &variants.umip, 1, 0, 0 },
	{ "smap", "whether the kernel is kept from programs' memory, if the CPU can",
	  { "off", "on" }, &variants.smap, 1, 0, 0 },
	{ "node-bits", "low bits of the CPU's number that hold its node",
	  { NULL }, &variants.node_bits, 0, 0, 8 },
	{ "max-cpus", "CPUs that the numbers must have room for",
	  { NULL }, &variants.max_cpus, MAX_CPUS, MAX_CPUS, 8192 },
	{ "ioctl", "whether 64-bit programs' ioctl runs under the big kernel lock",
	  { "bkl", "unlocked" }, &variants.ioctl, IOCTL_UNLOCKED, 0, 0 },
	{ "compat-ioctl", "how a 32-bit program's ioctl finds its handler",
	  { "hash-bkl", "hash-unlocked", "hash-bare", "flag", "entry" },
	  &variants.compat_ioctl, COMPAT_IOCTL_ENTRY, 0, 0 },
	{ "compat-ioctl-handlers", "commands in the hash",
	  { NULL }, &variants.compat_ioctl_handlers, 300, 8, 4096 },
	{ "compat-ioctl-collisions", "further ones before the test device's",
	  { NULL }, &variants.compat_ioctl_collisions, 0, 0, 4096 },
};

_Static_assert(GETCPU_SLDT + 1 <= VALUES, "the longest list fits");

static void print_values(const struct mechanism *mechanism)
{
	if (!mechanism->values[0]) {
		printk("%u..%u", mechanism->lowest, mechanism->highest);
		return;
	}
	for (unsigned i = 0; mechanism->values[i]; i++)
		printk("%s%s", i ? "|" : "", mechanism->values[i]);
}

static void print_table(void)
{
	printk("mechanisms and their variants:\n");
	for (unsigned i = 0; i < ARRAY_SIZE(table); i++) {
		printk("  %s=", table[i].name);
		print_values(&table[i]);
		printk("  %s\n", table[i].about);
	}
	printk("  init=PATH and test.WORD are left to others\n");
}

static _Noreturn void unknown_name(const char *word)
{
	print_table();
	printk("lab: bad command line: no mechanism is called \"%s\"\n", word);
	machine_exit(1);
}

static _Noreturn void unknown_value(const struct mechanism *mechanism, const char *value)
{
	print_table();
	printk("lab: bad command line: %s can't be \"%s\", but ", mechanism->name, value);
	print_values(mechanism);
	printk("\n");
	machine_exit(1);
}

/* A decimal number of up to nine digits; false if it is not one. */
static bool parse_number(const char *text, u32 *number)
{
	size_t length = strlen(text);

	*number = 0;
	if (length == 0 || length > 9)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		*number = *number * 10 + (*text - '0');
	}
	return true;
}

static void choose_variant(const struct mechanism *mechanism, const char *value)
{
	u32 number;

	for (u32 i = 0; mechanism->values[i]; i++) {
		if (strcmp(mechanism->values[i], value) == 0) {
			*mechanism->chosen = i;
			return;
		}
	}
	if (mechanism->values[0] || !parse_number(value, &number) || number < mechanism->lowest ||
	    number > mechanism->highest)
		unknown_value(mechanism, value);
	*mechanism->chosen = number;
}

static void parse_word(const char *word)
{
	static const char *const left[] = { "init=", "test.", "virtio_mmio.device=" };

	for (unsigned i = 0; i < ARRAY_SIZE(left); i++)
		if (strncmp(word, left[i], strlen(left[i])) == 0)
			return;
	for (unsigned i = 0; i < ARRAY_SIZE(table); i++) {
		size_t length = strlen(table[i].name);

		if (strncmp(word, table[i].name, length) == 0 && word[length] == '=') {
			choose_variant(&table[i], word + length + 1);
			return;
		}
	}
	unknown_name(word);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Copies the next word, cut to its buffer, and returns what follows; NULL if there was none. */
static const char *next_word(const char *text, char word[WORD_SIZE])
{
	size_t length = 0;

	while (is_blank(*text))
		text++;
	if (!*text)
		return NULL;
	for (; *text && !is_blank(*text); text++)
		if (length < WORD_SIZE - 1)
			word[length++] = *text;
	word[length] = '\0';
	return text;
}

void variants_parse(const char *command_line)
{
	char word[WORD_SIZE];

	for (unsigned i = 0; i < ARRAY_SIZE(table); i++)
		*table[i].chosen = table[i].initial;
	while ((command_line = next_word(command_line, word)))
		parse_word(word);
}

const char *variant_name(const u32 *chosen)
{
	for (unsigned i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].chosen == chosen)
			return table[i].values[*chosen];
	return NULL;
}

void variants_print(void)
{
	printk("lab:");
	for (unsigned i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].values[0])
			printk(" %s=%s", table[i].name, table[i].values[*table[i].chosen]);
		else
			printk(" %s=%u", table[i].name, *table[i].chosen);
	}
	printk("\n");
}
