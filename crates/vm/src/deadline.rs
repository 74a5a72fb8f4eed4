//! A limit on how long another process is waited for.

use std::time::{Duration, Instant};

/// Longer than this we look away only if we were stopped ourselves (Ctrl-Z, a debugger), or hardly
/// got a CPU: waits look at their limit every 50 ms.
const ABSENCE: Duration = Duration::from_secs(1);

/// When a wait has lasted long enough. Time in which nobody looked does not count: what the other
/// process did meanwhile could not be heard.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at: Instant,
    looked: Instant,
}

impl Deadline {
    /// `limit` from now.
    pub fn after(limit: Duration) -> Self {
        let now = Instant::now();
        Self { at: now + limit, looked: now }
    }

    /// What is left of it; `None` once it has passed. To be asked every 50 ms or so.
    pub fn left(&mut self) -> Option<Duration> {
        self.left_at(Instant::now())
    }

    fn left_at(&mut self, now: Instant) -> Option<Duration> {
        let away = now - self.looked;
        if away > ABSENCE {
            self.at += away;
        }
        self.looked = now;
        self.at.checked_duration_since(now).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const TICK: Duration = Duration::from_millis(50);

    #[test]
    fn it_passes_when_it_was_looked_at_all_the_time() {
        let mut deadline = Deadline::after(SECOND);
        let begin = deadline.looked;
        assert_eq!(deadline.left_at(begin + 5 * TICK), Some(15 * TICK));
        assert_eq!(deadline.left_at(begin + 19 * TICK), Some(TICK));
        assert_eq!(deadline.left_at(begin + 20 * TICK), None);
        assert_eq!(deadline.left_at(begin + 21 * TICK), None);
    }

    #[test]
    fn time_in_which_nobody_looked_does_not_count() {
        let mut deadline = Deadline::after(SECOND);
        let begin = deadline.looked;
        assert_eq!(deadline.left_at(begin + 60 * SECOND), Some(SECOND));
        assert_eq!(deadline.left_at(begin + 60 * SECOND + 20 * TICK), None);
    }
}
