/* Threads that share a lock, a timer's signals, and a sleep in which the CPU idles. */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

enum { THREADS = 6, TIMES = 500, ALARMS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;
static volatile int alarms;

static void *add(void *unused)
{
	for (int i = 0; i < TIMES; i++) {
		pthread_mutex_lock(&lock);
		sum++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

int main(void)
{
	const struct itimerval timer = { { 0, 5000 }, { 0, 5000 } }, off = { { 0, 0 }, { 0, 0 } };
	const struct timespec nap = { 0, 50 * 1000 * 1000 };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, add, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (alarms < ALARMS)
		;
	setitimer(ITIMER_REAL, &off, NULL);
	return nanosleep(&nap, NULL) || sum != THREADS * TIMES;
}
