/* The tests of the lab kernel's programs' view: each runs in a process of its own. */
#ifndef USER_TESTS_H
#define USER_TESTS_H

#include "lib.h"

struct test {
	const char *name;
	void (*run)(void);
};

/* One table a file; ended by an empty entry. */
extern const struct test port_tests[], flag_tests[], cpu_tests[], fpu_tests[], process_tests[],
	memory_tests[], signal_tests[], hostile_tests[], schedule_tests[], compat_tests[],
	softirq_tests[], link_tests[], ioctl_tests[], ioctl_lock_tests[];

/* Programs of the same executable: `/init NAME …`. */
int port_worker(char **argv);
int exec_probe(int argc, char **argv);
#endif
