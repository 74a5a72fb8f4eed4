/*
 * Faults and signals, ROUNDS times each kind: those that the kernel reports after the instruction
 * (int3, a single step) and those before it, of its own instructions and of memory.
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 5, KINDS = 12, PAGES = 64 };

static sigjmp_buf back;
static volatile int caught;

static void on_signal(int number)
{
	(void)number;
	caught++;
	siglongjmp(back, 1);
}

#define TRY(...) do { if (!sigsetjmp(back, 1)) { __VA_ARGS__; } } while (0)

int main(void)
{
	const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		TRY(*(volatile int *)8 = 1);
		TRY(((void (*)(void))0x1000)());
		TRY(*(volatile int *)0x8000000000000000ul = 1);
		TRY(__asm__ volatile("ud2"));
		TRY(__asm__ volatile("int3"));
		TRY(__asm__ volatile("hlt"));
		TRY(__asm__ volatile("cli"));
		TRY(__asm__ volatile("int $0x42"));
		TRY(__asm__ volatile("xorl %%ecx, %%ecx; xorl %%edx, %%edx; divl %%ecx"
				     : : : "eax", "ecx", "edx"));
		TRY(__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; nop; nop"
				     : : : "memory"));
		TRY(__asm__ volatile("rep stosb" : : "D"(0x1000ul), "c"(100ul), "a"(0) : "memory"));
		TRY(__asm__ volatile("movq %%cr0, %%rax" : : : "rax"));
	}
	/* Pages that are the shared zero page first, then memory of their own. */
	char *pages = mmap(NULL, PAGES << 12, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < PAGES; i++)
		caught += pages[i << 12];
	memset(pages, 1, PAGES << 12);
	return caught != ROUNDS * KINDS;
}
