/*
 * A function of 4 KiB that nothing calls: it moves all text linked after it, and does no more.
 * A whole page, so that what moves keeps its place within pages and cache lines.
 */
#include <linux/compiler.h>
#include <linux/linkage.h>

noinline void __used fixture_dead_function(void);

noinline void __used fixture_dead_function(void)
{
	asm volatile(".fill 4096, 1, 0x90");
}
