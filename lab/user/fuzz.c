/*
 * Random system calls, to find out whether the kernel outlives them. Children make them, one seed
 * each, and are killed when they have had their time; what they do to themselves is their affair.
 */
#include "fuzz.h"
#include "tests.h"

#define CHILD_NS 300000000ull

static char arena[65536] __attribute__((aligned(4096)));

/* Numbers that are apt to be misread: around bounds, as addresses, sizes, descriptors, flags. */
static uint64_t argument(struct random *random)
{
	static const uint64_t odd[] = {
		0, 1, 2, 3, 8, 0xff, 0xfff, 0x1000, 0xffff, 0x10000, 0x7fffffff,
		0x80000000, 0xffffffff, 0x100000000, 0x7fffffffe000, 0x7ffffffff000, 0x800000000000,
		0x7fffffffffffffff, 0x8000000000000000, 0xffff888000000000, 0xffffffff80100000,
		0xfffffffffffff000, 0xffffffffffffffff,
	};

	switch (random_below(random, 5)) {
	case 0:
		return odd[random_below(random, sizeof(odd) / sizeof(odd[0]))];
	case 1:
		return (uint64_t)arena + random_below(random, sizeof(arena));
	case 2:
		return random_below(random, 64);
	case 3:
		return random_next(random);
	default:
		return 1ull << random_below(random, 64);
	}
}

static const char *const paths[] = { "/dev/null", "/dev/zero", "/init", "/proc/cmdline", "/", "/x",
				     "/dev", "/dev/console/x", "/proc/kallsyms", "" };

/* All but reboot, which would end the machine, and writing to the console's descriptors. */
static int allowed(uint64_t number, uint64_t first)
{
	return number != SYS_reboot && number != SYS_iopl && number != SYS_ioperm &&
	       !(number <= 20 && number != SYS_mmap && first <= 2) && number != SYS_dup2;
}

static void make_calls(uint64_t seed, volatile uint64_t *made)
{
	struct random random = { seed };
	uint64_t end = now_ns() + CHILD_NS;

	while (now_ns() < end) {
		uint64_t number = random_below(&random, 8)
					  ? random_below(&random, 340)
					  : random_next(&random) >> random_below(&random, 64);
		uint64_t a = argument(&random);

		if (random_below(&random, 4) == 0)
			a = (uint64_t)paths[random_below(&random,
							 sizeof(paths) / sizeof(*paths))];
		if (!allowed(number, a))
			continue;
		__atomic_add_fetch(made, 1, __ATOMIC_RELAXED);
		sys(number, a, argument(&random), argument(&random), argument(&random),
		    argument(&random), argument(&random));
	}
	quit(0);
}

void fuzz(unsigned seconds, uint64_t seed)
{
	volatile uint64_t *made = map_pages(4096, MAP_SHARED);
	uint64_t end = now_ns() + seconds * 1000000000ull;
	uint64_t children = 0, before = 0;

	while (now_ns() < end) {
		uint64_t time[2] = { 0, CHILD_NS + CHILD_NS / 2 };
		long group = sys(SYS_fork);

		if (group == 0) {
			sys(SYS_setpgid, 0, 0);
			for (unsigned i = 0; i < 3; i++)
				if (sys(SYS_fork) == 0)
					make_calls(seed + children * 4 + i, made);
			make_calls(seed + children * 4 + 3, made);
		}
		children++;
		sys(SYS_nanosleep, time, 0);
		sys(SYS_kill, -group, SIGKILL);
		sys(SYS_kill, group, SIGKILL);
		while (sys(SYS_wait4, -1, 0, 1, 0) > 0)
			;
		if (*made > before + 1000000) {
			before = *made;
			print("fuzz: %lu system calls by %lu groups\n", (unsigned long)before,
			      (unsigned long)children);
		}
	}
	print("fuzz: %lu system calls by %lu groups, and the kernel lives\n", (unsigned long)*made,
	      (unsigned long)children);
}
