/* Scheduling: priorities, turns, preemption by the tick, threads and futexes. */
#include "tests.h"

struct board {
	volatile uint64_t turns[4];
	volatile uint32_t word;
	volatile uint32_t done;
};

static void turns_are_taken(void)
{
	struct board *board = map_pages(sizeof(*board), MAP_SHARED);
	long pid;

	expect_equal(pin(0), 0);
	expect_equal(real_time(2), 0);
	pid = sys(SYS_fork);
	if (pid == 0)
		for (;;) {
			board->turns[0]++;
			sys(SYS_sched_yield);
		}
	for (uint64_t i = 0; i < 100; i++) {
		expect_equal(board->turns[0], i);
		sys(SYS_sched_yield);
	}
	sys(SYS_kill, pid, SIGKILL);
	wait_for(pid);
}

static void priority_goes_first(void)
{
	struct board *board = map_pages(sizeof(*board), MAP_SHARED);
	long pid;

	expect_equal(pin(0), 0);
	expect_equal(real_time(10), 0);
	pid = sys(SYS_fork);
	if (pid == 0) {
		real_time(5);
		for (;;)
			board->turns[0]++;
	}
	sys(SYS_sched_yield); /* to the child, which lowers itself and so gives back at once */
	expect_equal(board->turns[0], 0);
	sys(SYS_sched_yield);
	expect_equal(board->turns[0], 0);
	sys(SYS_kill, pid, SIGKILL);
	wait_for(pid);
}

static void the_tick_shares_the_cpu(void)
{
	struct board *board = map_pages(sizeof(*board), MAP_SHARED);
	long children[3];
	uint64_t time[2] = { 0, 200000000 };

	expect_equal(pin(0), 0);
	for (int i = 0; i < 3; i++) {
		children[i] = sys(SYS_fork);
		if (children[i] == 0)
			for (;;)
				board->turns[i]++;
	}
	sys(SYS_nanosleep, time, NULL);
	for (int i = 0; i < 3; i++) {
		sys(SYS_kill, children[i], SIGKILL);
		wait_for(children[i]);
	}
	/* Equal shares, as far as the kernel can tell: with a clock that stands still while the
	 * host runs something else. Else just that each had turns. */
	for (int i = 0; i < 3; i++) {
		expect(board->turns[i] > 0);
		if (option("test.exact", 0))
			expect(board->turns[i] * 6 >
			       board->turns[0] + board->turns[1] + board->turns[2]);
	}
}

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

static void futexes_wake(void)
{
	struct board *board = map_pages(sizeof(*board), MAP_SHARED);
	long pid = sys(SYS_fork);

	if (pid == 0) {
		for (uint32_t i = 0; i < 500; i++) {
			while (board->word != 2 * i + 1)
				sys(SYS_futex, &board->word, FUTEX_WAIT, 2 * i, 0);
			board->word = 2 * i + 2;
			sys(SYS_futex, &board->word, FUTEX_WAKE, 1);
		}
		quit(0);
	}
	for (uint32_t i = 0; i < 500; i++) {
		board->word = 2 * i + 1;
		sys(SYS_futex, &board->word, FUTEX_WAKE, 1);
		while (board->word != 2 * i + 2)
			sys(SYS_futex, &board->word, FUTEX_WAIT, 2 * i + 1, 0);
	}
	expect(exited(wait_for(pid), 0));
	expect_equal(sys(SYS_futex, &board->word, FUTEX_WAIT, 7, 0), -EAGAIN);
}

#define THREAD (0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x100000 | 0x200000)

/* clone, then `body` on the new stack; it must end by SYS_exit. */
static long thread(void (*body)(struct board *), char *top, struct board *board)
{
	register volatile uint32_t *child __asm__("r10") = &board->word;
	register long tls __asm__("r8") = 0;
	long result;

	__asm__ volatile("syscall; test %%rax, %%rax; jnz 1f;"
			 "mov %[board], %%rdi; xor %%ebp, %%ebp;"
			 "call *%[body]; mov $60, %%eax; xor %%edi, %%edi; syscall; ud2; 1:"
			 : "=a"(result)
			 : "0"((long)SYS_clone), "D"((long)THREAD), "S"(top), "d"(&board->word),
			   "r"(child), "r"(tls), [body] "b"(body), [board] "r"((long)board)
			 : "rcx", "r11", "memory");
	return result;
}

static void add(struct board *board)
{
	for (int i = 0; i < 1000; i++)
		__atomic_add_fetch(&board->turns[0], 1, __ATOMIC_RELAXED);
}

static void threads_share_and_end(void)
{
	static struct board board;
	char *stack = map_pages(16384, MAP_PRIVATE);

	for (uint64_t i = 1; i <= 200; i++) {
		uint32_t number;

		expect(thread(add, stack + 16384, &board) > 0);
		while ((number = board.word) != 0)
			sys(SYS_futex, &board.word, FUTEX_WAIT, number, 0);
		expect_equal(board.turns[0], i * 1000);
	}
}

static void spin(struct board *board)
{
	for (;;)
		board->turns[1]++;
}

/* exit_group ends threads that make no system call, on other CPUs too. */
static void start_spinners(void *unused)
{
	static struct board board[3];

	(void)unused;
	for (int i = 0; i < 3; i++)
		expect(thread(spin, (char *)map_pages(16384, MAP_PRIVATE) + 16384, &board[i]) > 0);
	while (!board[0].turns[1] || !board[1].turns[1] || !board[2].turns[1])
		sys(SYS_sched_yield);
	quit(42);
}

static void a_process_ends_with_all_its_threads(void)
{
	for (int i = 0; i < 10; i++)
		expect_equal(in_child(start_spinners, NULL), 42 << 8);
}

static void many_run_on_all_cpus(void)
{
	struct board *board = map_pages(sizeof(*board), MAP_SHARED);
	long children[16];

	for (unsigned i = 0; i < 16; i++) {
		children[i] = sys(SYS_fork);
		if (children[i] == 0) {
			for (unsigned round = 0; round < 200; round++) {
				if (round % 10 == 0)
					pin((i + round) % cpus());
				__atomic_add_fetch(&board->turns[0], 1, __ATOMIC_RELAXED);
				sys(SYS_sched_yield);
			}
			quit(0);
		}
	}
	for (unsigned i = 0; i < 16; i++)
		expect(exited(wait_for(children[i]), 0));
	expect_equal(board->turns[0], 16 * 200);
}

const struct test schedule_tests[] = {
	{ "schedule.turns", turns_are_taken },
	{ "schedule.priority", priority_goes_first },
	{ "schedule.tick", the_tick_shares_the_cpu },
	{ "schedule.futex", futexes_wake },
	{ "schedule.threads", threads_share_and_end },
	{ "schedule.exit-group", a_process_ends_with_all_its_threads },
	{ "schedule.all-cpus", many_run_on_all_cpus },
	{ 0 },
};
