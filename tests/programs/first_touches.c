/*
 * First touches of PAGES pages by instructions of every kind: by those that change an operand in
 * memory, which a processor lets fault once; and by others that fault twice on a processor too, or
 * once in an interpreter.
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGES = 64, PAGE = 4096 };

static char *pages(int shared)
{
	return mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		    (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
}

/* Executes the instruction on each of new pages, or on those of a mapping. */
#define EACH(page, ...) do { \
	for (int i = 0; i < PAGES; i++) { \
		int *p = (int *)((page) + i * PAGE); \
		__VA_ARGS__; \
	} \
} while (0)
#define CHANGE(text) do { \
	char *new = pages(0); \
	EACH(new, __asm__ volatile(text : "+m"(*p) : "r"(1), "a"(0) : "memory", "cc", "ecx")); \
} while (0)

/* Changes `counted` by its first instruction. */
void on_fault(int number);
static char counted[PAGE] __attribute__((aligned(PAGE), used));
static sigjmp_buf back;

static void __attribute__((used)) leave(void)
{
	siglongjmp(back, 1);
}

__asm__("on_fault: lock addl $1, counted(%rip)\n\tjmp leave\n");

int main(void)
{
	struct sigaction action;
	char *one = pages(0), *other = pages(0), *third = pages(0), *fourth = pages(0);
	char *read_first = pages(0), *shared = pages(1);

	CHANGE("addl %1, %0");
	CHANGE("lock orl $0, %0");
	CHANGE("movl %1, %%ecx; xchgl %%ecx, %0");
	CHANGE("btsl $1, %0");
	CHANGE("lock cmpxchgl %1, %0");
	CHANGE("incl %0");
	CHANGE("notl %0");
	CHANGE("shll $1, %0");
	CHANGE("movl %1, %%ecx; lock xaddl %%ecx, %0");
	/* Other instructions than the one that faulted before, or on other places. */
	EACH(read_first, __asm__ volatile("movl %0, %%ecx; movl $1, %0" : "+m"(*p) : : "ecx"));
	for (int i = 0; i < PAGES; i++) {
		void *from = one + i * PAGE, *to = other + i * PAGE;
		long count = 8;

		__asm__ volatile("movsb" : "+S"(from), "+D"(to) : : "memory");
		from = third + i * PAGE;
		to = fourth + i * PAGE;
		__asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
	}
	/* One fault each: the kernel lets a shared page be written to at once. */
	EACH(shared, __asm__ volatile("addl $1, %0" : "+m"(*p)));
	/* A fault of a read, and then one of the handler's first instruction. */
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_fault;
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < PAGES; i++) {
		madvise(counted, PAGE, MADV_DONTNEED);
		if (*(volatile char *)counted)
			return 1;
		if (!sigsetjmp(back, 1))
			return *(volatile int *)8;
	}
	return 0;
}
