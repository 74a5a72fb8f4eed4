/* Programs that do what they must not: each ends, with the right signal, and no other
 * program does. */
#include "tests.h"

#define BODY(name, ...)                                                                            \
	static void name(void *unused)                                                             \
	{                                                                                          \
		(void)unused;                                                                      \
		__asm__ volatile(__VA_ARGS__);                                                     \
	}

BODY(execute_hlt, "hlt")
BODY(execute_cli, "cli")
BODY(execute_wrmsr, "mov $0xc0000080, %%ecx; xor %%eax, %%eax; xor %%edx, %%edx; wrmsr" ::
     : "rax", "rcx", "rdx")
BODY(execute_mov_cr, "mov %%cr0, %%rax" ::: "rax")
BODY(execute_lgdt, "lgdt (%%rsp)" :::)
BODY(execute_invlpg, "invlpg (%%rsp)" :::)
BODY(execute_swapgs, "swapgs")
BODY(execute_sysret, "sysretq")
BODY(execute_iret, "push $0; push $0; push $0; push $8; push $0; iretq" ::: "memory")
BODY(execute_ud2, "ud2")
BODY(execute_int3, "int3")
BODY(execute_int_timer, "int $0xec")
BODY(execute_int_page_fault, "int $14")
BODY(divide_by_zero, "xor %%ecx, %%ecx; div %%ecx" ::: "rax", "rcx", "rdx")
BODY(load_bad_segment, "mov $0x18, %%eax; mov %%eax, %%ds" ::: "rax")
BODY(load_bad_stack_segment, "mov $0x10, %%eax; mov %%eax, %%ss" ::: "rax")
BODY(jump_non_canonical, "mov $0x8000000000000000, %%rax; jmp *%%rax" ::: "rax")
BODY(stack_non_canonical, "mov $0x8000000000000000, %%rsp; push %%rax" ::: "memory")
BODY(set_trap_flag, "pushfq; orq $0x100, (%%rsp); popfq; nop; nop" ::: "memory", "cc")
BODY(stack_in_kernel, "mov $0xffffffff80100000, %%rsp; int3" ::: "memory")

static const struct {
	const char *what;
	void (*body)(void *);
	int signal;
} misdeeds[] = {
	{ "hlt", execute_hlt, SIGSEGV },
	{ "cli", execute_cli, SIGSEGV },
	{ "wrmsr", execute_wrmsr, SIGSEGV },
	{ "mov from cr0", execute_mov_cr, SIGSEGV },
	{ "lgdt", execute_lgdt, SIGSEGV },
	{ "invlpg", execute_invlpg, SIGSEGV },
	{ "swapgs", execute_swapgs, SIGSEGV },
	{ "sysret", execute_sysret, SIGSEGV },
	{ "iret to nowhere", execute_iret, SIGSEGV },
	{ "ud2", execute_ud2, SIGILL },
	{ "int3", execute_int3, SIGTRAP },
	{ "int of the timer", execute_int_timer, SIGSEGV },
	{ "int of page faults", execute_int_page_fault, SIGSEGV },
	{ "division by zero", divide_by_zero, SIGFPE },
	{ "kernel data segment", load_bad_segment, SIGSEGV },
	{ "kernel code as stack", load_bad_stack_segment, SIGSEGV },
	{ "non-canonical jump", jump_non_canonical, SIGSEGV },
	{ "trap flag", set_trap_flag, SIGTRAP },
	{ "stack in the kernel", stack_in_kernel, SIGTRAP },
};

static void misdeeds_end_their_program(void)
{
	for (unsigned i = 0; i < sizeof(misdeeds) / sizeof(misdeeds[0]); i++) {
		int status = in_child(misdeeds[i].body, NULL);

		if (!killed(status, misdeeds[i].signal))
			fail(__FILE__, __LINE__, "%s: status 0x%x, not signal %d", misdeeds[i].what,
			     (unsigned)status, misdeeds[i].signal);
	}
	expect(!exited(in_child(stack_non_canonical, NULL), 0)); /* SIGBUS on Linux */
}

static void wild_pointers_are_refused(void)
{
	static const long wild[] = { 0, 8, 0x1000, 0x7fffffffffff, 0x800000000000, -1, -4096,
				     (long)0xffffffff80100000ul, (long)0xffff888000000000ul,
				     (long)0x8000000000000000ul };

	for (unsigned i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		int ends[2];

		expect_equal(sys(SYS_pipe, wild[i]), -EFAULT);
		expect_equal(sys(SYS_pipe, ends), 0);
		expect_equal(sys(SYS_write, ends[1], wild[i], 8), -EFAULT);
		expect_equal(sys(SYS_write, ends[1], "12345678", 8), 8);
		expect_equal(sys(SYS_read, ends[0], wild[i], 8), -EFAULT);
		expect_equal(sys(SYS_open, wild[i], 0, 0), -EFAULT);
		expect_equal(sys(SYS_nanosleep, wild[i], 0), -EFAULT);
		expect_equal(sys(SYS_execve, wild[i], wild[i], wild[i]), -EFAULT);
		expect_equal(sys(SYS_rt_sigaction, SIGUSR1, wild[i] | 1, 0, 8), -EFAULT);
		expect_equal(sys(SYS_clock_gettime, 1, wild[i]), -EFAULT);
		expect_equal(sys(SYS_futex, wild[i] & ~3l, 0, 0, 0), -EFAULT);
		sys(SYS_close, ends[0]);
		sys(SYS_close, ends[1]);
	}
}

static void wrong_numbers_are_refused(void)
{
	static const long wrong[] = { 335, 499, 511, 512, 1000, 0x40000000, -1,
				      (long)0x8000000000000000ul, 0x100000001 };

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect_equal(sys(wrong[i]), -ENOSYS);
	expect_equal(sys(SYS_close, -1), -EBADF);
	expect_equal(sys(SYS_close, 100000), -EBADF);
	expect_equal(sys(SYS_read, 200, NULL, 1), -EBADF);
	expect_equal(sys(SYS_kill, 99999, SIGTERM), -3);
	expect_equal(sys(SYS_kill, 1, 65), -EINVAL);
}

const struct test hostile_tests[] = {
	{ "hostile.misdeeds", misdeeds_end_their_program },
	{ "hostile.wild-pointers", wild_pointers_are_refused },
	{ "hostile.wrong-numbers", wrong_numbers_are_refused },
	{ 0 },
};
