/* Programs that do not want to be measured; the argument tells how. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <unistd.h>

/* A marker of the agent's: plugin/arch/x86_64/marker.h. */
#define MARKER(kind) __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x00, " kind ", 0x4d, 0x50")

static int loops(void)
{
	for (volatile int going = 1; going;)
		;
	return 0;
}

static int sleeps(void)
{
	return (int)sleep(1u << 30);
}

static int crashes(void)
{
	fputs("\33[31mabout to crash\n", stderr);
	return *(volatile int *)0;
}

static int illegal(void)
{
	/* vpxord %zmm0, %zmm0, %zmm0: AVX-512 */
	__asm__ volatile(".byte 0x62, 0xf1, 0x7d, 0x48, 0xef, 0xc0");
	return 0;
}

static int floods(void)
{
	static char block[1 << 20];

	memset(block, 'x', sizeof(block));
	while (write(1, block, sizeof(block)) > 0)
		;
	return 1;
}

/* A line without an end. */
static int complains(void)
{
	static char line[1 << 20];

	memset(line, 'x', sizeof(line));
	return write(2, line, sizeof(line)) > 0 ? 9 : 1;
}

static int reboots(void)
{
	return reboot(RB_AUTOBOOT);
}

static int writes_to_port(void)
{
	const char *text = "not a frame";

	if (ioperm(0xe9, 1, 1))
		return 1;
	while (*text)
		outb((unsigned char)*text++, 0xe9);
	return 0;
}

/* The agent's way to pause the guest: agent/src/arch/x86_64/port.rs. */
static int pauses(void)
{
	if (ioperm(0x505, 1, 1))
		return 1;
	outb(1, 0x505);
	return 0;
}

static int unmounts(void)
{
	umount2("/dev", MNT_DETACH);
	return 0;
}

/* What no run gets back: a number of the kernel's. */
static int remembers(void)
{
	FILE *file = fopen("/proc/sys/vm/overcommit_ratio", "r+");
	int ratio = 0;

	if (!file || fscanf(file, "%d", &ratio) != 1)
		return 1;
	if (ratio == 51) {
		fputs("found 51\n", stderr);
		return 7;
	}
	rewind(file);
	return fputs("51", file) < 0 || fclose(file);
}

/* What may not matter: all processes and process 1 are sent every signal, and marks are forged. */
static int survives(void)
{
	for (int number = 1; number < 65; number++)
		kill(1, number);
	kill(-1, SIGKILL);
	for (int i = 0; i < 3; i++) {
		MARKER("3");
		MARKER("5");
		MARKER("4");
		MARKER("5");
		MARKER("1");
		MARKER("2");
	}
	return 0;
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		int (*act)(void);
	} acts[] = {
		{ "loops", loops }, { "sleeps", sleeps }, { "crashes", crashes },
		{ "illegal", illegal }, { "floods", floods }, { "complains", complains },
		{ "reboots", reboots }, { "pauses", pauses }, { "port", writes_to_port },
		{ "unmounts", unmounts },
		{ "remembers", remembers }, { "survives", survives },
	};

	for (size_t i = 0; count == 2 && i < sizeof(acts) / sizeof(*acts); i++)
		if (!strcmp(words[1], acts[i].name))
			return acts[i].act();
	return 1;
}
