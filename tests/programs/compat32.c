/* A 32-bit program without a library: five calls of getppid, and a line of output. */
static int call(int number, int first, const char *second, int third)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result)
			 : "a"(number), "b"(first), "c"(second), "d"(third) : "memory");
	return result;
}

void _start(void)
{
	enum { EXIT = 1, WRITE = 4, GETPPID = 64 };

	for (int i = 0; i < 5; i++)
		call(GETPPID, 0, 0, 0);
	call(WRITE, 1, "32 bits\n", 8);
	call(EXIT, 0, 0, 0);
	for (;;)
		;
}
