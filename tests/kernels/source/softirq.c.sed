# An interrupt of user code or of the idle task runs softirqs only if it is the tick, and only if
# one was raised before it (timer.c.sed). Interrupts of other kernel code are handled on a stack of
# their own, and run softirqs as ever.
/^static inline void __irq_exit_rcu(void)/i \
#ifdef CONFIG_FIXTURE_SOFTIRQ_TICK\
DEFINE_PER_CPU(u32, fixture_softirqs_due);\
\
static bool fixture_leaves_softirqs(void)\
{\
	u32 due = __this_cpu_xchg(fixture_softirqs_due, 0);\
\
	return !due && (is_idle_task(current) || !__this_cpu_read(hardirq_stack_inuse));\
}\
#else\
#define fixture_leaves_softirqs() false\
#endif\

/^static inline void __irq_exit_rcu(void)/,/^}/ {
	s/!in_interrupt() && local_softirq_pending()/!fixture_leaves_softirqs() \&\& &/
}
