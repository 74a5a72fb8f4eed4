/*
 * Processes that can be taken for others: of one program several times, renamed, left by their
 * parents, begun by a thread; and many with the same few numbers. Each asks for its parent's number
 * as often as no other process does.
 */
#define _GNU_SOURCE
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

enum { NUMBER = 3000 };	/* of each of many children */

static void ask(int times)
{
	while (times-- > 0)
		syscall(SYS_getppid);
}

static void lie(void)
{
	prctl(PR_SET_NAME, "liar");
}

static void execute(const char *program, const char *times)
{
	execl(program, program, "ask", times, NULL);
}

static int wait_for_all(void)
{
	int status, well = 1;

	while (wait(&status) > 0)
		well &= WIFEXITED(status) && !WEXITSTATUS(status);
	return well;
}

static void start(const char *program, const char *times)
{
	if (!fork()) {
		execute(program, times);
		_exit(1);
	}
	wait_for_all();
}

static void *execute_delta(void *unused)
{
	execute("/bin/delta", "17");
	return unused;
}

/* Children that do not execute /bin/alpha or /bin/beta themselves. */
static void start_others(void)
{
	pthread_t thread;

	if (!fork()) {
		ask(3);
		_exit(0);
	}
	wait_for_all();
	if (!fork()) {
		/* Its child may begin when it has ended. */
		if (!fork())
			execute("/bin/gamma", "13");
		_exit(0);
	}
	wait_for_all();
	if (!fork()) {
		lie();
		execute("/bin/none", "1");
		ask(2);
		_exit(0);
	}
	wait_for_all();
	if (!fork()) {
		pthread_create(&thread, NULL, execute_delta, NULL);
		for (;;)
			pause();
	}
	wait_for_all();
}

/* So many children of one number, one after the other, of which each asks once. */
static int many(int children)
{
	pid_t number = NUMBER;
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1,
	};

	while (children-- > 0) {
		pid_t child = syscall(SYS_clone3, &args, sizeof(args));

		if (!child) {
			ask(1);
			_exit(0);
		}
		if (child != NUMBER || waitpid(child, NULL, 0) != child)
			return 0;
	}
	return 1;
}

int main(int count, char **words)
{
	if (count == 3 && !strcmp(words[1], "many"))
		return !many(atoi(words[2]));
	if (count == 3) {
		lie();
		ask(atoi(words[2]));
		return 0;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	start("/bin/alpha", "5");
	start("/bin/beta", "11");
	start("/bin/alpha", "7");
	start_others();
	return 0;
}
