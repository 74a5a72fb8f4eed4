/*
 * A loop as that of lmbench 3's `lat_syscall null`: getppid() by the C library, N times, with a
 * counter that is counted down. (lmbench gives times, from which its harness takes what an empty
 * loop and its clock cost. Here instructions are counted, so that is not needed.)
 *
 *   lat-syscall N
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void loop(unsigned long iterations)
{
	while (iterations-- > 0)
		getppid();
}

int main(int argc, char **argv)
{
	loop(argc > 1 ? strtoul(argv[1], NULL, 10) : 1000);
	return 0;
}
