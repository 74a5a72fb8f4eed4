/* Processes: fork, exec, exit, wait, and that nothing of them is left. */
#include "../uapi/lab.h"
#include "tests.h"

static void exit_with(void *code)
{
	quit((int)(long)code);
}

static void a_child_tells_its_code(void)
{
	for (long code = 0; code < 256; code += 51)
		expect(exited(in_child(exit_with, (void *)code), (int)code));
	expect_equal(sys(SYS_wait4, -1, NULL, 0, 0), -ECHILD);
}

static void a_child_has_memory_of_its_own(void)
{
	volatile int *page = map_pages(4096, MAP_PRIVATE);
	volatile int *shared = map_pages(4096, MAP_SHARED);
	long pid;

	*page = 1;
	pid = sys(SYS_fork);
	if (pid == 0) {
		expect_equal(*page, 1);
		*page = 2;
		*shared = 3; /* first touched after the fork, and still shared */
		quit(*page);
	}
	expect(exited(wait_for(pid), 2));
	expect_equal(*page, 1);
	expect_equal(*shared, 3);
}

static void orphans_are_taken_in(void)
{
	int ends[2];
	long pid;
	int parent = -1;

	expect_equal(sys(SYS_pipe, ends), 0);
	pid = sys(SYS_fork);
	if (pid == 0) {
		if (sys(SYS_fork) == 0) {
			while ((parent = (int)sys(SYS_getppid)) == 0 || parent != 1)
				sys(SYS_sched_yield);
			sys(SYS_write, ends[1], &parent, sizeof(parent));
			quit(0);
		}
		quit(0);
	}
	expect(exited(wait_for(pid), 0));
	expect_equal(sys(SYS_read, ends[0], &parent, sizeof(parent)), sizeof(parent));
	expect_equal(parent, 1);
}

static struct lab_statistics statistics(void)
{
	struct lab_statistics now;

	expect_equal(sys(SYS_LAB, LAB_STATISTICS, &now), 0);
	return now;
}

static void fork_and_wait(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		long pid = sys(SYS_fork);

		if (pid == 0)
			quit(0);
		expect(exited(wait_for(pid), 0));
	}
}

static void nothing_stays_behind(void)
{
	struct lab_statistics before, after;

	fork_and_wait(20); /* caches and tables have grown to their size */
	before = statistics();
	fork_and_wait((unsigned)option("test.forks", 500));
	after = statistics();
	expect_equal(after.tasks, before.tasks);
	expect_equal(after.free_pages, before.free_pages);
	expect_equal(after.objects, before.objects);
	expect_equal(after.files, before.files);
}

static void nor_do_those_with_much_to_leave(void)
{
	struct lab_statistics before, after;

	for (int round = 0; round < 40; round++) {
		long pid = sys(SYS_fork);

		if (pid == 0) {
			char *memory = map_pages(1 << 20, MAP_PRIVATE);
			int ends[2];

			for (int i = 0; i < 1 << 20; i += 4096)
				memory[i] = 1;
			sys(SYS_pipe, ends);
			sys(SYS_write, ends[1], memory, 1000);
			sys(SYS_ioperm, 0x1000, 100, 1);
			if (round & 1)
				sys(SYS_kill, sys(SYS_getpid), SIGKILL);
			quit(0);
		}
		wait_for(pid);
		if (round == 3)
			before = statistics();
	}
	after = statistics();
	expect_equal(after.free_pages, before.free_pages);
	expect_equal(after.objects, before.objects);
	expect_equal(after.files, before.files);
}

int exec_probe(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[2], "ports"))
		return try_port(0x1234) == SIGSEGV ? 0 : 1;
	if (argc == 4 && !strcmp(argv[2], "words"))
		return strcmp(argv[3], "a word");
	return 1;
}

static void exec_hands_words_on(void)
{
	char *const argv[] = { "/init", "exec-probe", "words", "a word", NULL };
	char *const none[] = { NULL };

	sys(SYS_execve, "/init", argv, none);
	expect(0);
}

/* Every damaged program is refused, and the one that tried goes on. */
static void damaged_programs_are_refused(void)
{
	char *const none[] = { NULL };
	struct random random = { 77 };
	char image[4096];
	long fd = sys(SYS_open, "/init", O_RDONLY, 0), length;

	length = sys(SYS_read, fd, image, sizeof(image));
	expect_equal(length, sizeof(image));
	for (int i = 0; i < 200; i++) {
		/* Within the ELF header and the program headers, after the magic. */
		unsigned at = 16 + (unsigned)random_below(&random, 64 + 56 * 3 - 16);
		char old = image[at];
		long out;

		image[at] = (char)random_next(&random);
		out = sys(SYS_open, "/damaged", O_WRONLY | O_CREAT | 01000, 0700);
		expect(out >= 0);
		expect_equal(sys(SYS_write, out, image, sizeof(image)), sizeof(image));
		sys(SYS_close, out);
		if (sys(SYS_fork) == 0) {
			long result = sys(SYS_execve, "/damaged", none, none);

			quit(result < 0 ? 0 : 1);
		}
		sys(SYS_wait4, -1, NULL, 0, 0); /* refused, or died: the kernel did not */
		image[at] = old;
	}
	expect_equal(sys(SYS_execve, "/plan-that-is-not-there", none, none), -ENOENT);
}

static void pipes_end(void)
{
	int ends[2];
	char byte = 'x';

	expect_equal(sys(SYS_pipe, ends), 0);
	expect_equal(sys(SYS_write, ends[1], &byte, 1), 1);
	sys(SYS_close, ends[1]);
	expect_equal(sys(SYS_read, ends[0], &byte, 1), 1);
	expect_equal(sys(SYS_read, ends[0], &byte, 1), 0); /* no writer: the end */
	expect_equal(sys(SYS_pipe, ends), 0);
	sys(SYS_close, ends[0]);
	expect_equal(sys(SYS_write, ends[1], &byte, 1), -EPIPE);
}

static void no_reader_kills(void *unused)
{
	int ends[2];

	(void)unused;
	sys(SYS_pipe, ends);
	sys(SYS_close, ends[0]);
	sys(SYS_write, ends[1], "x", 1);
}

static void ignore(int signal, void *info, struct context *context)
{
	(void)signal, (void)info, (void)context;
}

static void pipes_end_tested(void)
{
	expect(killed(in_child(no_reader_kills, NULL), SIGPIPE));
	expect_equal(on_signal(SIGPIPE, ignore), 0);
	pipes_end();
}

static void much_goes_through_a_pipe(void)
{
	static unsigned char block[5000];
	int ends[2];
	unsigned sum = 0, sent = 0;
	long pid, got;

	expect_equal(sys(SYS_pipe, ends), 0);
	pid = sys(SYS_fork);
	if (pid == 0) {
		struct random random = { 99 };

		for (int i = 0; i < 100; i++) {
			for (unsigned j = 0; j < sizeof(block); j++)
				block[j] = (unsigned char)random_next(&random);
			expect_equal(sys(SYS_write, ends[1], block, sizeof(block)), sizeof(block));
		}
		quit(0);
	}
	sys(SYS_close, ends[1]);
	while ((got = sys(SYS_read, ends[0], block, 777)) > 0)
		for (long j = 0; j < got; j++)
			sum = sum * 31 + block[j];
	expect_equal(got, 0);
	expect(exited(wait_for(pid), 0));
	for (struct random random = { 99 }; sent < 500000; ) {
		static unsigned wanted;

		wanted = wanted * 31 + (unsigned char)random_next(&random);
		if (++sent == 500000)
			expect_equal(sum, wanted);
	}
}

const struct test process_tests[] = {
	{ "process.code", a_child_tells_its_code },
	{ "process.memory-of-its-own", a_child_has_memory_of_its_own },
	{ "process.orphans", orphans_are_taken_in },
	{ "process.nothing-stays", nothing_stays_behind },
	{ "process.nothing-stays-of-much", nor_do_those_with_much_to_leave },
	{ "exec.words", exec_hands_words_on },
	{ "exec.damaged", damaged_programs_are_refused },
	{ "pipe.ends", pipes_end_tested },
	{ "pipe.much", much_goes_through_a_pipe },
	{ 0 },
};
