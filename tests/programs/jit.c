/*
 * A JIT: makes functions that count down from a number, executes them, and names them in its perf
 * map; a child makes one of its own where its parent had another. The argument says which maps it
 * leaves:
 *
 *	named	those of both processes, as they should be
 *	silent	none
 *	wrong	lines and files that are none
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, BYTES = 10 };

static uint8_t *code;
static FILE *map;

/* Executes 2 + 2 * `from` instructions. */
static void make(uint32_t place, uint32_t from, const char *name)
{
	static const uint8_t form[BYTES] = {
		0xb9, 0, 0, 0, 0,	/* mov $from, %ecx */
		0xff, 0xc9,		/* dec %ecx */
		0x75, 0xfc,		/* jnz to the dec */
		0xc3,			/* ret */
	};

	memcpy(code + place, form, sizeof(form));
	memcpy(code + place + 1, &from, sizeof(from));
	if (map)
		fprintf(map, "%lx %x %s\n", (unsigned long)(code + place), BYTES, name);
}

static void call(uint32_t place, int times)
{
	while (times--)
		((void (*)(void))(code + place))();
}

static void open_map(const char *mode)
{
	char path[64];

	if (map)
		fclose(map);
	map = NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	if (strcmp(mode, "silent"))
		map = fopen(path, "w");
}

/* What is no map, under names of maps. */
static void leave_wrong_files(void)
{
	int file = open("/tmp/perf-900001.map", O_WRONLY | O_CREAT, 0600);

	fprintf(map, "no line\n%lx 0 empty\n%lx a cut", (unsigned long)code, (unsigned long)code);
	if (ftruncate(file, 60 << 20))
		puts("no large file");
	mkfifo("/tmp/perf-900002.map", 0600);
	mkdir("/tmp/perf-900003.map", 0700);
	if (symlink("/dev/zero", "/tmp/perf-900004.map"))
		puts("no link");
}

int main(int count, char **words)
{
	const char *mode = count > 1 ? words[1] : "named";
	int status;

	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	open_map(mode);
	make(0x000, 100, "alpha");
	call(0x000, 3);
	make(0x100, 200, "beta 2");
	call(0x100, 2);
	make(0x200, 300, "replaced");
	call(0x200, 1);
	make(0x200, 400, "gamma");
	call(0x200, 1);
	if (map)
		fflush(map);
	if (!fork()) {
		open_map(mode);
		make(0x100, 500, "delta");
		call(0x100, 4);
		if (map)
			fclose(map);
		_exit(0);
	}
	if (wait(&status) < 0 || status)
		return 1;
	if (!strcmp(mode, "wrong"))
		leave_wrong_files();
	return 0;
}
