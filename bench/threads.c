/* Four threads, which add to one sum, each under a lock; then the memory that each of them had. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 10000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *add(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		sum++;
		pthread_mutex_unlock(&lock);
	}
	return malloc(100);
}

int main(void)
{
	pthread_t threads[THREADS];
	void *memory;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, add, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		if (pthread_join(threads[i], &memory))
			return 1;
		free(memory);
	}
	printf("%d\n", sum);
	return sum != THREADS * ROUNDS;
}
