//! x86-64.

/// The ticks of the time stamp counter.
pub(crate) fn ticks() -> u64 {
    // SAFETY: reads a counter; CR4.TSD is clear on Linux unless a task asks for it.
    unsafe { core::arch::x86_64::_rdtsc() }
}
