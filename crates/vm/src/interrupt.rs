//! How running measurements are ended before they are done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The user wants a measurement to end, or its time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Tells running measurements that the user wants them to end, or that their time is up.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
    until: Option<Instant>,
    /// Another flag that ends them.
    also: Option<Arc<AtomicBool>>,
}

impl Interrupt {
    /// The flag itself, for a signal handler to set.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// An interrupt like this one, which also ends measurements at `end`.
    #[must_use]
    pub fn until(&self, end: Instant) -> Self {
        Self { until: Some(end), ..self.clone() }
    }

    /// An interrupt like this one, which also ends measurements once this other flag is set.
    #[must_use]
    pub fn or(&self, flag: Arc<AtomicBool>) -> Self {
        Self { also: Some(flag), ..self.clone() }
    }

    /// An error once the flag is set, or the time is up.
    pub fn check(&self) -> Result<(), Interrupted> {
        let is_late = || self.until.is_some_and(|end| Instant::now() >= end);
        let is_also = || self.also.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        let is_over = self.flag.load(Ordering::Relaxed) || is_also() || is_late();
        if is_over { Err(Interrupted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_to_end_at_a_time_ends_then_or_by_the_flag_and_the_rest_goes_on() {
        let interrupt = Interrupt::default();
        let late = interrupt.until(Instant::now());
        let early = interrupt.until(Instant::now() + Duration::from_secs(3600));
        assert!(late.check().is_err() && early.check().is_ok() && interrupt.check().is_ok());
        early.flag().store(true, Ordering::Relaxed);
        assert!(early.check().is_err() && interrupt.check().is_err());
    }
}
