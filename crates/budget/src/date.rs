//! Days of the calendar, as budgets expire.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A day in UTC. Later days are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year of the Gregorian calendar.
    pub year: u16,
    /// From 1 to 12.
    pub month: u8,
    /// From 1 to 31.
    pub day: u8,
}

impl Date {
    /// The day of this host's clock.
    pub fn today() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::after_epoch(now.as_secs() / (24 * 60 * 60))
    }

    /// The day so many days after 1970-01-01.
    fn after_epoch(days: u64) -> Self {
        let (mut year, mut left) = (1970, days);
        while left >= days_of_year(year) && year < u16::MAX {
            left -= days_of_year(year);
            year += 1;
        }
        let mut month = 1;
        while month < 12 && left >= days_of_month(year, month) {
            left -= days_of_month(year, month);
            month += 1;
        }
        Self { year, month, day: u8::try_from(left + 1).unwrap_or(31) }
    }
}

fn days_of_year(year: u16) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_of_month(year: u16, month: u8) -> u64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_through_leap_years() {
        let text = |days| Date::after_epoch(days).to_string();
        assert_eq!(
            [0, 30, 31, 58, 59].map(text),
            ["1970-01-01", "1970-01-31", "1970-02-01", "1970-02-28", "1970-03-01"]
        );
        assert_eq!((text(11_016), text(11_017)), ("2000-02-29".into(), "2000-03-01".into()));
        assert_eq!((text(20_818), text(47_541)), ("2026-12-31".into(), "2100-03-01".into()));
    }

    #[test]
    fn later_days_are_greater() {
        let days: Vec<Date> = (0..1000).map(Date::after_epoch).collect();
        assert!(days.is_sorted_by(|one, next| one < next));
    }
}
