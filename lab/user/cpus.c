/* Which CPU: every way that the kernel offers must give the one that the program was moved to. */
#include "tests.h"

typedef long (*vdso_getcpu)(unsigned *cpu, unsigned *node, void *cache);

/* __vdso_getcpu by the vDSO's dynamic symbols (ELF-64 Object File Format, version 1.5). */
static vdso_getcpu find_getcpu(void)
{
	uint64_t base = 0, *dynamic = NULL, symbols = 0, strings = 0;
	uint32_t *hash = NULL;
	uint8_t *headers;

	for (unsigned long *entry = auxv; entry[0]; entry += 2)
		if (entry[0] == 33)
			base = entry[1];
	expect(base != 0);
	headers = (uint8_t *)base + *(uint64_t *)(base + 32);
	for (unsigned i = 0; i < *(uint16_t *)(base + 56); i++)
		if (*(uint32_t *)(headers + i * 56) == 2)
			dynamic = (uint64_t *)(base + *(uint64_t *)(headers + i * 56 + 16));
	expect(dynamic != NULL);
	for (; dynamic[0]; dynamic += 2) {
		if (dynamic[0] == 4)
			hash = (uint32_t *)(base + dynamic[1]);
		if (dynamic[0] == 5)
			strings = base + dynamic[1];
		if (dynamic[0] == 6)
			symbols = base + dynamic[1];
	}
	expect(hash && strings && symbols);
	for (unsigned i = 0; i < hash[1]; i++)
		if (!strcmp((char *)strings + *(uint32_t *)(symbols + i * 24), "__vdso_getcpu"))
			return (vdso_getcpu)(base + *(uint64_t *)(symbols + i * 24 + 8));
	return NULL;
}

static void right_after_every_move(void)
{
	vdso_getcpu getcpu = find_getcpu();
	unsigned nodes = 1u << option("node-bits", 0);
	unsigned count = cpus();

	expect(getcpu != NULL);
	for (unsigned i = 0; i < 400; i++) {
		unsigned cpu = ~0u, node = ~0u, same = ~0u, same_node = ~0u;
		unsigned wanted = i * 7 % count;

		expect_equal(pin(wanted), 0);
		expect_equal(getcpu(&cpu, &node, NULL), 0);
		expect_equal(cpu, wanted);
		expect_equal(node, wanted % nodes);
		expect_equal(sys(SYS_getcpu, &same, &same_node, NULL), 0);
		expect_equal(same, wanted);
		expect_equal(same_node, wanted % nodes);
		expect_equal(getcpu(NULL, NULL, NULL), 0);
	}
}

/* The caller's cache, if it is used, may be a tick old, but not older; its first answer is right,
 * and each is one CPU with its own node. */
static void a_cache_is_at_most_a_tick_old(void)
{
	vdso_getcpu getcpu = find_getcpu();
	int cached = strstr(command_line(), "getcpu-cache=on") != NULL;
	unsigned nodes = 1u << option("node-bits", 0);
	unsigned last = cpus() - 1, cpu, node;
	uint64_t cache[16] = { 0 }, begin;

	expect_equal(pin(0), 0);
	expect_equal(getcpu(&cpu, &node, cache), 0);
	expect_equal(cpu, 0);
	expect_equal(node, 0);
	expect_equal(pin(last), 0);
	begin = now_ns();
	do {
		getcpu(&cpu, &node, cache);
		expect(cpu == last || (cached && cpu == 0));
		expect_equal(node, cpu % nodes);
	} while (cpu != last && now_ns() - begin < 50000000);
	expect_equal(cpu, last);
	expect_equal(cache[0] != 0, cached);
}

const struct test cpu_tests[] = {
	{ "getcpu.right-after-every-move", right_after_every_move },
	{ "getcpu.cache", a_cache_is_at_most_a_tick_old },
	{ 0 },
};
