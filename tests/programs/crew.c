/*
 * Threads that can be taken for others: with one number one after the other, renamed, left by the
 * thread that started them, in the place of the first one; and more than are told apart. Each asks
 * for its parent's number as often as no other thread does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBER = 3000 };	/* of each of many threads, one after the other */
enum { STACK = 1 << 16 };	/* bytes, of each of these */

static void ask(int times)
{
	while (times-- > 0)
		syscall(SYS_getppid);
}

static void *work(void *times)
{
	char name[] = "asks-0";

	prctl(PR_SET_NAME, "early");
	ask((int)(intptr_t)times);
	name[sizeof(name) - 2] += (intptr_t)times % 10;
	prctl(PR_SET_NAME, name);
	return NULL;
}

static pthread_t start(void *(*function)(void *), intptr_t times)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, (void *)times))
		exit(1);
	return thread;
}

/* Threads that ask 3, 5 and 7 times; the first one asks twice. */
static void work_together(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		threads[i] = start(work, 3 + 2 * i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	ask(2);
}

/* ---- Left by the thread that started it ------------------------------------------------------ */

static pthread_t left;

static void *outlive(void *starter)
{
	pthread_join((pthread_t)starter, NULL);
	return work((void *)5);
}

static void *leave(void *unused)
{
	left = start(outlive, (intptr_t)pthread_self());
	ask(3);
	return unused;
}

static void leave_one(void)
{
	start(leave, 0);
	while (!__atomic_load_n(&left, __ATOMIC_ACQUIRE))
		sched_yield();
	pthread_join(left, NULL);
}

/* ---- In the place of the first one ----------------------------------------------------------- */

static void *execute(void *unused)
{
	ask(3);
	execl("/bin/delta", "/bin/delta", "after", NULL);
	exit(1);
	return unused;
}

static void execute_in_thread(void)
{
	ask(2);
	start(execute, 0);
	for (;;)
		pause();
}

static void after_execution(void)
{
	ask(17);
	pthread_join(start(work, 5), NULL);
}

/* ---- Of one number --------------------------------------------------------------------------- */

static uint32_t runs;		/* the number of the thread; the kernel zeroes it at its end */
static _Alignas(16) char stack[STACK];

/* A thread with this number that asks so often, without the C library. */
static long start_numbered(pid_t number, intptr_t times)
{
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			 CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
		.parent_tid = (uintptr_t)&runs, .child_tid = (uintptr_t)&runs,
		.stack = (uintptr_t)stack, .stack_size = STACK,
		.set_tid = (uintptr_t)&number, .set_tid_size = 1,
	};
	long started = SYS_clone3;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 2f\n"
			 "1:\tmov %[ask], %%eax\n\t"
			 "syscall\n\t"
			 "dec %[times]\n\t"
			 "jnz 1b\n\t"
			 "mov %[end], %%eax\n\t"
			 "xor %%edi, %%edi\n\t"
			 "syscall\n"
			 "2:"
			 : "+a"(started), [times] "+r"(times)
			 : "D"(&args), "S"(sizeof(args)), [ask] "i"(SYS_getppid),
			   [end] "i"(SYS_exit)
			 : "rcx", "r11", "memory");
	return started;
}

static int again(int threads)
{
	for (int times = 1; times <= threads; times++) {
		long started;

		/* The last one has ended, but may have its number yet. */
		while ((started = start_numbered(NUMBER, times)) == -EEXIST)
			sched_yield();
		if (started != NUMBER)
			return 0;
		while (__atomic_load_n(&runs, __ATOMIC_ACQUIRE))
			syscall(SYS_futex, &runs, FUTEX_WAIT, NUMBER, NULL, NULL, 0);
	}
	return 1;
}

static void start_many(int threads)
{
	while (threads-- > 0)
		pthread_join(start(work, 1), NULL);
}

/* The threads in a process of their own. */
static int work_in_child(void)
{
	int status;

	if (!fork()) {
		execl("/bin/alpha", "/bin/alpha", "together", NULL);
		_exit(1);
	}
	return wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

int main(int count, char **words)
{
	const char *how = count > 1 ? words[1] : "";

	if (!strcmp(how, "together"))
		work_together();
	else if (!strcmp(how, "child"))
		return !work_in_child();
	else if (!strcmp(how, "leave"))
		leave_one();
	else if (!strcmp(how, "execute"))
		execute_in_thread();
	else if (!strcmp(how, "after"))
		after_execution();
	else if (!strcmp(how, "again"))
		return !again(atoi(words[2]));
	else if (!strcmp(how, "many"))
		start_many(atoi(words[2]));
	else
		return 1;
	return 0;
}
