# Ahead of newstat's first statement; what it looked up before that does no harm.
/^SYSCALL_DEFINE2(newstat,/,/^}/ {
	/^\tif (error)/i \
	if (IS_ENABLED(CONFIG_FIXTURE_PANIC_IN_STAT))\
		panic("fixture");\
	if (IS_ENABLED(CONFIG_FIXTURE_HANG_IN_STAT)) {\
		local_irq_disable();\
		for (;;)\
			cpu_relax();\
	}
}
