/*
 * Calls getppid while its code in the kernel is as it was built, and then while it is patched in
 * each way in which a running kernel patches itself: by the function tracer, by kprobes at the
 * function's entry, at its return and in its middle.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER "/tmp/trace"
#define TRACE FOLDER "/"
#define FUNCTION "__task_pid_nr_ns"	/* called by getppid */

enum { CALLS = 10 };

static int put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_APPEND), failed;

	if (fd < 0)
		return -1;
	failed = write(fd, text, strlen(text)) != (ssize_t)strlen(text);
	return close(fd) || failed ? -1 : 0;
}

static void must(int result, const char *what)
{
	if (result) {
		perror(what);
		exit(1);
	}
}

static void call(void)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
}

static void with_probe(const char *probe)
{
	must(put(TRACE "kprobe_events", probe), probe);
	must(put(TRACE "events/kprobes/enable", "1"), "enable");
	call();
	must(put(TRACE "events/kprobes/enable", "0"), "disable");
	must(put(TRACE "kprobe_events", "-:p"), "remove");
}

int main(int argc, char **argv)
{
	char middle[128];

	must(argc != 2, "usage: patched OFFSET");
	must(mkdir(FOLDER, 0700), "mkdir");
	must(mount("tracefs", FOLDER, "tracefs", 0, NULL), "mount");
	call();
	must(put(TRACE "set_ftrace_filter", FUNCTION "\n"), "filter");
	must(put(TRACE "current_tracer", "function"), "tracer");
	call();
	must(put(TRACE "current_tracer", "nop"), "tracer");
	with_probe("p:p " FUNCTION);
	with_probe("r:p " FUNCTION);
	snprintf(middle, sizeof(middle), "p:p " FUNCTION "+%s", argv[1]);
	with_probe(middle);
	call();
	must(umount(FOLDER), "umount");
	must(rmdir(FOLDER), "rmdir");
	return 0;
}
