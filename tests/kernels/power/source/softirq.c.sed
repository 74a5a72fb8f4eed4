# Each time that softirqs are run, ahead of their handlers.
/^static void handle_softirqs(/,/^}/ {
	/^\tcurrent->flags &= ~PF_MEMALLOC;/i \
	asm volatile(".rept %c0\\n\\tnop\\n\\t.endr" : : "i" (CONFIG_POWER_SOFTIRQ));
}
