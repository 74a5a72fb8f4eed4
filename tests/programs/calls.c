/*
 * A program whose calls are known, for call trees: a recursion of known depth, and one that is
 * deeper than a tree has room for; a system call made in two functions; page faults; the handler of
 * a signal; calls that are never returned from; and a pipe between two processes.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pathmeter.h"

enum { DEPTH = 40, TOO_DEEP = 1000, ROUNDS = 10, PAGES = 8 };

static jmp_buf far;
static volatile unsigned long sum;

__attribute__((noinline)) static void bottom(void)
{
	for (int i = 0; i < 100; i++)
		sum += i;
}

/* Calls itself `depth` times, and does something after that, so that it is no jump. */
__attribute__((noinline)) static void descend(int depth)
{
	if (depth)
		descend(depth - 1);
	else
		bottom();
	sum++;
}

__attribute__((noinline)) static void leap(int depth)
{
	if (depth)
		leap(depth - 1);
	else if (sum)
		longjmp(far, 1);
	sum++;
}

__attribute__((noinline)) static void ask_here(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		exit(1);
	sum++;
}

__attribute__((noinline)) static void ask_there(int fd)
{
	char bytes[64];

	if (read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		exit(2);
	sum++;
}

__attribute__((noinline)) static void on_signal(int number)
{
	(void)number;
	bottom();
	sum++;
}

/* Round trips to another process, each in the region `trip`. */
__attribute__((noinline)) static void trips(void)
{
	int there[2], back[2];
	char byte = 0;
	pid_t child;

	if (pipe(there) || pipe(back))
		exit(3);
	child = fork();
	if (!child) {
		for (int i = 0; i < ROUNDS; i++)
			if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
				_exit(4);
		_exit(0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		pathmeter_begin("trip");
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			exit(5);
		pathmeter_end("trip");
	}
	waitpid(child, NULL, 0);
}

int main(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	char *pages;

	signal(SIGUSR1, on_signal);
	pathmeter_begin("recursion");
	descend(DEPTH);
	pathmeter_end("recursion");
	pathmeter_begin("deep");
	descend(TOO_DEEP);
	pathmeter_end("deep");
	pathmeter_begin("leap");
	if (!setjmp(far))
		leap(DEPTH);
	bottom();
	pathmeter_end("leap");
	pathmeter_begin("signal");
	raise(SIGUSR1);
	pathmeter_end("signal");
	for (int i = 0; i < ROUNDS; i++) {
		ask_here(fd);
		ask_there(fd);
	}
	pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (pages == MAP_FAILED)
		return 6;
	for (int i = 0; i < PAGES; i++)
		pages[i * 4096] = 1;
	trips();
	return 0;
}
