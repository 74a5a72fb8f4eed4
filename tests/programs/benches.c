/*
 * A program of benchmarks that speaks as a test binary of Go does, and as one of Criterion: it
 * lists them, and executes one by name. What an iteration executes are calls of getppid.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void ask(long times)
{
	for (long i = 0; i < times; i++)
		syscall(SYS_getppid);
}

/* Criterion executes an iteration in a function of this name. */
void iterate(void) __asm__("_ZN9criterion7bencher16Bencher$LT$M$GT$4iter17h0123456789abcdefE");
__attribute__((noinline)) void iterate(void)
{
	ask(2);
	__asm__ volatile("");
}

static const char *after(int count, char **words, const char *start)
{
	for (int i = 1; i < count; i++)
		if (!strncmp(words[i], start, strlen(start)))
			return words[i] + strlen(start);
	return NULL;
}

static void told(const char *name, long iterations)
{
	printf("%s \t%8ld\t%10d ns/op\n", name, iterations, 100);
}

static int go(const char *pattern, long iterations)
{
	puts("goos: linux");
	if (!strcmp(pattern, "^BenchmarkAsk$")) {
		ask(iterations);
		told("BenchmarkAsk", iterations);
	} else if (!strcmp(pattern, "^BenchmarkAskThrice$")) {
		ask(3 * iterations);
		told("BenchmarkAskThrice", iterations);
	} else if (!strcmp(pattern, "^BenchmarkGroup$")) {
		told("BenchmarkGroup/a.b", iterations);
	} else if (!strcmp(pattern, "^BenchmarkGroup$/^a\\.b$")) {
		told("BenchmarkGroup/a.b", iterations);
	} else if (!strcmp(pattern, "^BenchmarkPanic$")) {
		fputs("panic: no such luck\n", stderr);
		return 2;
	} else if (!strcmp(pattern, "^BenchmarkFixed$")) {
		told("BenchmarkFixed", 5);
	}
	puts("PASS");
	return 0;
}

int main(int count, char **words)
{
	const char *pattern = after(count, words, "-test.bench=");
	const char *times = after(count, words, "-test.benchtime=");

	if (after(count, words, "-test.list=")) {
		puts("BenchmarkAsk\nBenchmarkAskThrice\nBenchmarkFixed");
		puts("BenchmarkGroup\nBenchmarkPanic");
		return 0;
	}
	if (after(count, words, "--list")) {
		puts("ask twice: benchmark\nbroken: benchmark\n");
		return 0;
	}
	if (after(count, words, "--test")) {
		if (strcmp(words[count - 1], "^ask twice$"))
			return 101;
		puts("Testing ask twice");
		iterate();
		puts("Success\n");
		return 0;
	}
	return pattern && times ? go(pattern, atol(times)) : 1;
}
