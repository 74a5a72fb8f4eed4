/* Memory: what may be touched and what not, and that zeroes are zeroes. */
#include "tests.h"

static void touch(void *address)
{
	*(volatile char *)address = 1;
}

static void look(void *address)
{
	(void)*(volatile char *)address;
}

static void fresh_memory_is_zero(void)
{
	for (int round = 0; round < 8; round++) {
		unsigned char *memory = map_pages(1 << 18, MAP_PRIVATE);

		for (int i = 0; i < 1 << 18; i++)
			expect_equal(memory[i], 0);
		memset(memory, 0xaa, 1 << 18);
		expect_equal(sys(SYS_munmap, memory, 1 << 18), 0);
	}
}

static void what_is_unmapped_is_gone(void)
{
	char *memory = map_pages(3 * 4096, MAP_PRIVATE);

	memory[0] = memory[4096] = memory[8192] = 1;
	expect_equal(sys(SYS_munmap, memory + 4096, 4096), 0);
	expect(exited(in_child(touch, memory), 0));
	expect(exited(in_child(touch, memory + 8192), 0));
	expect(killed(in_child(look, memory + 4096), SIGSEGV));
}

static volatile int faults;

/* Steps over the faulting instruction of write_one(), which is three bytes long. */
static void step_over(int signal, void *info, struct context *context)
{
	(void)signal, (void)info;
	faults++;
	*context_rip(context) += 3;
}

static void write_one(char *address)
{
	__asm__ volatile("movb $1, (%0)" ::"a"(address) : "memory");
}

/* What a CPU remembers of a page must not outlive it, nor what a thread's CPU remembers. */
static void translations_are_forgotten(void)
{
	expect_equal(on_signal(SIGSEGV, step_over), 0);
	for (int round = 0; round < 50; round++) {
		char *memory = map_pages(2 * 4096, MAP_PRIVATE);

		faults = 0;
		write_one(memory);
		write_one(memory + 4096);
		expect_equal(faults, 0);
		expect_equal(sys(SYS_mprotect, memory, 4096, PROT_READ), 0);
		write_one(memory);
		expect_equal(faults, 1);
		expect_equal(sys(SYS_munmap, memory, 2 * 4096), 0);
		write_one(memory);
		write_one(memory + 4096);
		expect_equal(faults, 3);
	}
}

static void protection_holds(void)
{
	char *memory = map_pages(2 * 4096, MAP_PRIVATE);

	memory[0] = 0x5a;
	expect_equal(sys(SYS_mprotect, memory, 4096, PROT_READ), 0);
	expect_equal(memory[0], 0x5a);
	expect(killed(in_child(touch, memory), SIGSEGV));
	expect(exited(in_child(touch, memory + 4096), 0));
	expect_equal(sys(SYS_mprotect, memory, 4096, 0), 0);
	expect(killed(in_child(look, memory), SIGSEGV));
	expect_equal(sys(SYS_mprotect, memory, 4096, PROT_READ | PROT_WRITE), 0);
	touch(memory);
}

static void call(void *address)
{
	((void (*)(void))address)();
}

static void data_is_not_executed(void)
{
	char *memory = map_pages(4096, MAP_PRIVATE);

	memory[0] = (char)0xc3;
	expect(killed(in_child(call, memory), SIGSEGV));
	expect_equal(sys(SYS_mprotect, memory, 4096, PROT_READ | PROT_EXEC), 0);
	expect(exited(in_child(call, memory), 0));
}

static void text_is_not_written(void)
{
	expect(killed(in_child(touch, (void *)text_is_not_written), SIGSEGV));
}

static void the_break_moves(void)
{
	long start = sys(SYS_brk, 0);

	expect(start > 0);
	expect_equal(sys(SYS_brk, start + 10000), start + 10000);
	touch((void *)(start + 9999));
	expect_equal(sys(SYS_brk, start), start);
	expect(killed(in_child(touch, (void *)(start + 8192)), SIGSEGV));
}

static void the_kernel_is_out_of_reach(void)
{
	static const unsigned long places[] = { 0xffffffff80100000ul, 0xffff888000000000ul,
						0xfffffffffffffffful, 0x800000000000ul, 0, 8,
						0x8000000000000000ul };

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		expect(killed(in_child(look, (void *)places[i]), SIGSEGV));
		expect(killed(in_child(touch, (void *)places[i]), SIGSEGV));
		expect(killed(in_child(call, (void *)places[i]), SIGSEGV));
	}
}

static int deep(int levels)
{
	volatile char frame[4000];

	frame[0] = (char)levels;
	return levels ? deep(levels - 1) + frame[0] : 0;
}

static void recurse_for_ever(void *unused)
{
	(void)unused;
	deep(1 << 30);
}

static void the_stack_grows_and_ends(void)
{
	deep(200);
	expect(killed(in_child(recurse_for_ever, NULL), SIGSEGV));
}

static void fill_all(void *unused)
{
	(void)unused;
	for (;;) {
		char *memory = map_pages(1 << 20, MAP_PRIVATE);

		for (int i = 0; i < 1 << 20; i += 4096)
			memory[i] = 1;
	}
}

/* A process that takes all memory is killed, and the others go on. */
static void greed_ends(void)
{
	int status = in_child(fill_all, NULL);

	expect(!exited(status, 0));
	expect(exited(in_child(touch, map_pages(4096, MAP_PRIVATE)), 0));
}

const struct test memory_tests[] = {
	{ "memory.fresh-is-zero", fresh_memory_is_zero },
	{ "memory.unmapped-is-gone", what_is_unmapped_is_gone },
	{ "memory.translations-forgotten", translations_are_forgotten },
	{ "memory.protection", protection_holds },
	{ "memory.no-data-executed", data_is_not_executed },
	{ "memory.no-text-written", text_is_not_written },
	{ "memory.break", the_break_moves },
	{ "memory.kernel-out-of-reach", the_kernel_is_out_of_reach },
	{ "memory.stack", the_stack_grows_and_ends },
	{ "memory.greed", greed_ends },
	{ 0 },
};
