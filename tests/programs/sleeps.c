/*
 * Sleeps whose number and whose end are known: a reader sleeps in each of its READS reads of a
 * pipe, until the process that executes "writer" writes; that process sleeps in each of its naps,
 * until the timer ends them. It writes only after a nap, when the reader sleeps already.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pathmeter.h"

enum { READS = 5 };

static const struct timespec nap = { .tv_nsec = 100 * 1000 };

static int write_slowly(void)
{
	for (int i = 0; i < READS; i++)
		if (nanosleep(&nap, NULL) || write(STDOUT_FILENO, "x", 1) != 1)
			return 1;
	return 0;
}

static int read_all(int from)
{
	char byte;

	for (int i = 0; i < READS; i++) {
		ssize_t got;

		pathmeter_begin("wait");
		got = read(from, &byte, 1);
		pathmeter_end("wait");
		pathmeter_expect(got == 1);
		if (got != 1)
			return 1;
		/* Nobody is to be woken here. */
		pathmeter_begin("busy");
		getppid();
		pathmeter_end("busy");
		pathmeter_expect(1);
	}
	return 0;
}

int main(int count, char **words)
{
	int ends[2], status;

	if (count > 1 && !strcmp(words[1], "write"))
		return write_slowly();
	if (pipe(ends))
		return 1;
	if (!fork()) {
		dup2(ends[1], STDOUT_FILENO);
		execl("/bin/writer", "writer", "write", NULL);
		_exit(1);
	}
	return read_all(ends[0]) || wait(&status) < 0 || status;
}
