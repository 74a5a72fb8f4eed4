/* Regions, well marked and wrongly; the argument tells which. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pathmeter.h"

static void good(void)
{
	for (int i = 0; i < 10; i++) {
		pathmeter_begin("outer");
		syscall(SYS_getppid);
		pathmeter_begin("inner");
		long parent = syscall(SYS_getppid);
		pathmeter_end("inner");
		pathmeter_expect(parent > 0);
		pathmeter_end("outer");
	}
}

static void *in_thread(void *unused)
{
	pathmeter_begin("thread");
	good();
	pathmeter_end("thread");
	return unused;
}

static void two_threads(void)
{
	pthread_t thread;

	pathmeter_begin("main");
	if (pthread_create(&thread, NULL, in_thread, NULL))
		exit(1);
	good();
	pthread_join(thread, NULL);
	pathmeter_end("main");
}

static void crossed(void)
{
	pathmeter_begin("first");
	pathmeter_begin("second");
	pathmeter_end("first");
	pathmeter_end("second");
}

static void open_for_ever(void)
{
	pathmeter_begin("endless");
}

static void too_many(void)
{
	for (int i = 0; i < 5000; i++) {
		char name[16];
		unsigned long length = (unsigned long)sprintf(name, "r%d", i);

		pathmeter_mark_begin(name, length);
		pathmeter_mark_end(name, length);
	}
}

static void unexpected(void)
{
	for (int i = 0; i < 3; i++) {
		pathmeter_begin("odd");
		pathmeter_end("odd");
		pathmeter_expect(i != 1);
	}
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		void (*act)(void);
	} acts[] = {
		{ "good", good }, { "threads", two_threads }, { "crossed", crossed },
		{ "open", open_for_ever }, { "many", too_many }, { "odd", unexpected },
	};

	for (size_t i = 0; count == 2 && i < sizeof(acts) / sizeof(*acts); i++)
		if (!strcmp(words[1], acts[i].name)) {
			acts[i].act();
			return 0;
		}
	return 1;
}
