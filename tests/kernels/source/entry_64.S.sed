# Sixteen bytes that nothing executes, on either side of the entry: nothing but the entry moves.
/^SYM_CODE_START(entry_SYSCALL_64)/i \
#ifdef CONFIG_FIXTURE_MOVED_ENTRY\
	.skip	16, 0xcc\
#endif
/^SYM_CODE_END(entry_SYSCALL_64)/a \
#ifndef CONFIG_FIXTURE_MOVED_ENTRY\
	.skip	16, 0xcc\
#endif
# Once a system call: no alternative stands between this and the call, and nothing jumps there.
/^\tcall\tdo_syscall_64/i \
#ifdef CONFIG_FIXTURE_NOP\
	nop\
#endif
