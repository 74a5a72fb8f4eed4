# What a tick finds raised, before it raises more itself (softirq.c.sed).
/^void update_process_times(int user_tick)/i \
#ifdef CONFIG_FIXTURE_SOFTIRQ_TICK\
DECLARE_PER_CPU(u32, fixture_softirqs_due);\
#endif\

/^void update_process_times(int user_tick)/,/^}/ {
	/^\trun_local_timers();/i \
#ifdef CONFIG_FIXTURE_SOFTIRQ_TICK\
	__this_cpu_write(fixture_softirqs_due, local_softirq_pending());\
#endif
}
