/*
 * An ordinary program, linked statically with the C library of the machine it is built on: it must
 * run unmodified. Exit code 0 is success.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *add(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		count++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static int threads_add_up(void)
{
	pthread_t threads[THREADS];
	char arguments[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, add, &arguments[i]))
			return 0;
	for (int i = 0; i < THREADS; i++) {
		void *result;

		if (pthread_join(threads[i], &result) || result != &arguments[i])
			return 0;
	}
	return count == THREADS * ROUNDS;
}

static int memory_and_text_work(void)
{
	char *text = malloc(1 << 20);
	double third = strtod("0.333", NULL);

	if (!text)
		return 0;
	memset(text, 'x', (1 << 20) - 1);
	text[(1 << 20) - 1] = 0;
	if (strlen(text) != (1 << 20) - 1)
		return 0;
	snprintf(text, 64, "%.2f %s %d", third * 3, "and", 42);
	return !strcmp(text, "1.00 and 42");
}

static int a_child_answers_through_stdio(void)
{
	int ends[2], status, answer = 0;
	FILE *in;
	pid_t pid;

	if (pipe(ends))
		return 0;
	pid = fork();
	if (pid == 0) {
		FILE *out = fdopen(ends[1], "w");

		fprintf(out, "answer %d\n", 42);
		fclose(out);
		_exit(7);
	}
	close(ends[1]);
	in = fdopen(ends[0], "r");
	return pid > 0 && fscanf(in, "answer %d", &answer) == 1 && answer == 42 &&
	       waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static int time_passes(void)
{
	struct timespec begin, end, pause = { 0, 2000000 };

	clock_gettime(CLOCK_MONOTONIC, &begin);
	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec >= 2000000;
}

int main(void)
{
	if (!threads_add_up())
		return 1;
	if (!memory_and_text_work())
		return 2;
	if (!a_child_answers_through_stdio())
		return 3;
	return time_passes() ? 0 : 4;
}
