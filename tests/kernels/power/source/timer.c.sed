# Once a softirq TIMER, ahead of the timers.
/run_timer_softirq(struct softirq_action/,/^}/ {
	/^\t__run_timers(base);/i \
	asm volatile(".rept %c0\\n\\tnop\\n\\t.endr" : : "i" (CONFIG_POWER_TIMER));
}
