//! The time stamp counter against the kernel's clock.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::arch::ticks;

/// Both clocks, read at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    ticks: u64,
    /// Stands still while the machine is suspended.
    time: Instant,
    /// Since boot; goes on meanwhile.
    boot: Duration,
}

impl Moment {
    /// Now: of some readings of all three clocks the one that took the counter the shortest.
    pub(crate) fn now() -> Self {
        let reading = || {
            let now = Self { ticks: ticks(), time: Instant::now(), boot: since_boot() };
            (ticks().saturating_sub(now.ticks), now)
        };
        let readings = (0..50).map(|_| reading()).min_by_key(|(ticks, _)| *ticks);
        readings.map_or_else(|| reading().1, |(_, moment)| moment)
    }

    /// Microseconds from this moment until now.
    pub(crate) fn microseconds(self) -> u64 {
        u64::try_from(self.time.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// How long the machine was suspended since, but for what passes between two readings.
    pub(crate) fn suspended(self) -> Duration {
        self.suspended_until(Self::now())
    }

    fn suspended_until(self, later: Self) -> Duration {
        let awake = later.time.saturating_duration_since(self.time);
        later.boot.saturating_sub(self.boot).saturating_sub(awake)
    }

    /// Ticks in a second, from this moment until now; 0 if no time passed, or if the counter went
    /// backwards.
    pub(crate) fn ticks_per_second(self) -> u64 {
        let now = Self::now();
        let nanoseconds = now.time.saturating_duration_since(self.time).as_nanos();
        let ticks = u128::from(now.ticks.saturating_sub(self.ticks));
        let rate = (ticks * 1_000_000_000).checked_div(nanoseconds).unwrap_or(0);
        u64::try_from(rate).unwrap_or(0)
    }
}

fn since_boot() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    let (seconds, nanoseconds) = (time.tv_sec.try_into(), time.tv_nsec.try_into());
    Duration::new(seconds.unwrap_or(0), nanoseconds.unwrap_or(0))
}

/// The step in which the counter was read: the least difference of two of these intervals that
/// differ; if none do, the interval itself.
pub(crate) fn step(intervals: &[u64]) -> u64 {
    let mut values = intervals.to_vec();
    values.sort_unstable();
    values.dedup();
    let steps = values.windows(2).map(|pair| pair[1] - pair[0]);
    steps.min().or(values.first().copied()).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_counter_runs_at_some_megahertz_or_more() {
        let begin = Moment::now();
        std::thread::sleep(Duration::from_millis(20));
        assert!(begin.ticks_per_second() > 1_000_000 && begin.microseconds() >= 20_000);
    }

    /// A machine that was suspended for a minute: the one clock has the minute, the other has not.
    #[test]
    fn a_suspended_machine_is_known_by_two_clocks() {
        let (begin, second) = (Moment::now(), Duration::from_secs(1));
        let after = |asleep| {
            let (time, boot) = (begin.time + second, begin.boot + second + asleep);
            begin.suspended_until(Moment { time, boot, ..begin })
        };
        assert_eq!(after(60 * second), 60 * second);
        assert_eq!(after(Duration::ZERO), Duration::ZERO);
        let earlier = Moment { boot: Duration::ZERO, ..begin };
        assert_eq!(begin.suspended_until(earlier), Duration::ZERO);
    }

    #[test]
    fn a_step_is_the_least_difference_of_what_was_read() {
        assert_eq!(step(&[78, 52, 52, 130, 78]), 26);
        assert_eq!((step(&[52, 52]), step(&[])), (52, 1));
    }
}
