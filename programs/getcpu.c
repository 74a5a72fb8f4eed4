/*
 * getcpu: the ways in which a program can learn which CPU it is on.
 *
 * From: dean gaudet, linux-kernel, 6 January 2007: "[patch] faster vgetcpu using sidt" (pathmeter
 * experiment vgetcpu-2007). The thread compares lsl, rdtscp, sidt and the vDSO's function, which
 * uses one of them. No Linux keeps the CPU in the limit of the IDT, and UMIP denies sidt to
 * programs, so sidt is not here.
 *
 *	cc -O2 -static -I../include -o getcpu getcpu.c
 *	pathmeter run KERNEL -- ./getcpu
 *
 * Regions: lsl, rdtscp, vdso, syscall, one question each. All answers must be the CPU that the
 * program is bound to. A way that this CPU or kernel lacks is left out, with a message.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <elf.h>
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pathmeter.h"
#include "times.h"

enum { QUESTIONS = 100, CALLS = 10000 };
/* The GDT's entry of CPU and node, at privilege level 3, and where the CPU is in its limit and in
 * rdtscp's ecx: Linux arch/x86/include/asm/segment.h, GDT_ENTRY_CPUNODE and VDSO_CPUNODE_MASK. */
enum { CPU_NODE_SELECTOR = 15 * 8 + 3, CPU_MASK = 0xfff };

typedef int vdso_getcpu(unsigned int *cpu, unsigned int *node, void *unused);

/* The CPU that the program runs on from now on. */
static unsigned int bound_to(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET(cpu, &set);
	if (cpu < 0 || sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity");
	return cpu;
}

/* A function of the vDSO, by its symbol table; NULL if there is none of this name. The kernel's own
 * image needs no checks. */
static void *vdso_function(const char *name)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
	const Elf64_Phdr *segment;
	const Elf64_Dyn *dynamic = NULL;
	const Elf64_Sym *symbols = NULL;
	const char *names = NULL;

	if (!image)
		return NULL;
	segment = (const Elf64_Phdr *)(image + header->e_phoff);
	for (int i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_DYNAMIC)
			dynamic = (const Elf64_Dyn *)(image + segment[i].p_offset);
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_SYMTAB)
			symbols = (const Elf64_Sym *)(image + dynamic->d_un.d_ptr);
		if (dynamic->d_tag == DT_STRTAB)
			names = image + dynamic->d_un.d_ptr;
	}
	/* The names follow the symbols, in each vDSO so far. */
	for (; symbols && names && (const char *)(symbols + 1) <= names; symbols++)
		if (symbols->st_shndx != SHN_UNDEF && !strcmp(names + symbols->st_name, name))
			return (void *)(image + symbols->st_value);
	return NULL;
}

static int has_rdtscp(void)
{
	enum { EXTENDED_FEATURES = 0x80000001, RDTSCP = 1 << 27 };
	unsigned int a, b, c, d;

	return __get_cpuid(EXTENDED_FEATURES, &a, &b, &c, &d) && d & RDTSCP;
}

/* Asks in the region `name`; whether all answers were `cpu`. */
#define ASK(name, cpu, question) ({					\
	int right = 1;							\
	for (int i = 0; i < QUESTIONS; i++) {				\
		unsigned int answer = ~0u;				\
		pathmeter_begin(name);					\
		question;						\
		pathmeter_end(name);					\
		right &= pathmeter_expect((answer & CPU_MASK) == cpu);	\
	}								\
	TIMES(name, CALLS, unsigned int answer = ~0u; question);	\
	right;								\
})

/* Whether all questions that can be asked had the right answer. */
static int ask_all(unsigned int cpu)
{
	const unsigned int selector = CPU_NODE_SELECTOR;
	vdso_getcpu *function = (vdso_getcpu *)vdso_function("__vdso_getcpu");
	int good = 1;

	good &= ASK("lsl", cpu,
		    __asm__ volatile("lsl %1, %0" : "+r"(answer) : "r"(selector) : "cc"));
	if (has_rdtscp())
		good &= ASK("rdtscp", cpu,
			    __asm__ volatile("rdtscp" : "=c"(answer) : : "eax", "edx"));
	else
		fprintf(stderr, "this CPU has no rdtscp\n");
	if (function)
		good &= ASK("vdso", cpu, function(&answer, NULL, NULL));
	else
		fprintf(stderr, "this kernel's vDSO has no getcpu\n");
	good &= ASK("syscall", cpu, syscall(SYS_getcpu, &answer, NULL, NULL));
	return good;
}

int main(void)
{
	return !ask_all(bound_to());
}
