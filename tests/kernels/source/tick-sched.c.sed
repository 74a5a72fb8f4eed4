# A CPU that idles keeps its tick while any softirq waits for it, as it does for TIMER; and there is
# nothing to warn of.
/^static inline bool local_timer_softirq_pending(void)/,/^}/ {
	s/BIT(TIMER_SOFTIRQ)/(IS_ENABLED(CONFIG_FIXTURE_SOFTIRQ_TICK) ? ~0 : &)/
}
/^static bool report_idle_softirq(void)/,/^}/ {
	s/^\tif (likely(!pending))/\tif (IS_ENABLED(CONFIG_FIXTURE_SOFTIRQ_TICK) || likely(!pending))/
}
