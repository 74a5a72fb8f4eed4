# Once a system call: no alternative stands between this and the call, and nothing jumps there.
/^\tcall\tdo_syscall_64/i \
#ifdef CONFIG_FIXTURE_NOP\
	nop\
#endif
