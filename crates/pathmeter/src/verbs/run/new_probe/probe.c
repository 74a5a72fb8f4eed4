/*
 * @NAME@: a probe for `pathmeter run`.
 *
 * What stands between begin and end is measured, each time it is executed. Put there what you want
 * to know the cost of, and let the probe expect that it happened.
 */
#include <err.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "pathmeter.h"

enum { TIMES = 100 };

/* Executes once what is measured; returns whether it did what it should. */
static int probe(int fd)
{
	struct stat status = { .st_mode = 0 };
	int result;

	pathmeter_begin("@NAME@");
	result = fstat(fd, &status);
	pathmeter_end("@NAME@");
	return pathmeter_expect(result == 0 && S_ISDIR(status.st_mode));
}

int main(void)
{
	int fd = open("/", O_RDONLY), good = 1;

	if (fd < 0)
		err(1, "/");
	for (int i = 0; i < TIMES; i++)
		good &= probe(fd);
	if (!good)
		errx(1, "the kernel did not do what was expected");
	return 0;
}
