# An interrupt of user code or of the idle task runs the softirqs only that a tick found raised
# before it (timer.c.sed), and leaves the rest. Interrupts of other kernel code, which are handled
# on a stack of their own, run all as ever. With SECOND_TICK, odd ticks leave nothing.
/^static inline void __irq_exit_rcu(void)/i \
#ifdef CONFIG_FIXTURE_SOFTIRQ_TICK\
DEFINE_PER_CPU(u32, fixture_softirqs_due);\
\
static void fixture_invoke_softirq(void)\
{\
	u32 due = __this_cpu_xchg(fixture_softirqs_due, 0);\
	u32 left = 0;\
\
	if (IS_ENABLED(CONFIG_FIXTURE_SOFTIRQ_SECOND_TICK) && (jiffies & 1))\
		due = ~0;\
	if (is_idle_task(current) || !__this_cpu_read(hardirq_stack_inuse)) {\
		left = local_softirq_pending() & ~due;\
		set_softirq_pending(local_softirq_pending() & due);\
	}\
	if (local_softirq_pending())\
		invoke_softirq();\
	or_softirq_pending(left);\
}\
#define invoke_softirq fixture_invoke_softirq\
#endif\

