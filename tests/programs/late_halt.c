/*
 * Preloaded into QEMU: makes the thread that executes the guest late at every third of its long
 * jumps, among them the one by which it leaves `hlt`. In that moment QEMU takes the CPU to wait,
 * but has not yet added the instructions that it executed last to the guest's clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

typedef void jump_t(void *buffer, int value);

static void jump_late(const char *name, void *buffer, int value)
{
	static unsigned int jumps;
	const struct timespec moment = { .tv_nsec = 300000 };
	jump_t *jump = (jump_t *)dlsym(RTLD_NEXT, name);

	if (++jumps % 3 == 0)
		nanosleep(&moment, NULL);
	jump(buffer, value);
}

void __longjmp_chk(void *buffer, int value)
{
	jump_late("__longjmp_chk", buffer, value);
}

void siglongjmp(void *buffer, int value)
{
	jump_late("siglongjmp", buffer, value);
}
