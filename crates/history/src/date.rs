//! Dates of results: seconds in UTC, read from and written as RFC 3339.
//!
//! The days' arithmetic is Howard Hinnant's, "chrono-Compatible Low-Level Date Algorithms".

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use thiserror::Error;

const DAY_SECONDS: i64 = 86_400;
/// Days in 400 years.
const ERA_DAYS: i64 = 146_097;
/// From 0000-03-01, with which an era begins, to 1970-01-01.
const EPOCH_DAYS: i64 = 719_468;
/// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const RANGE: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// A moment, to the second: years 0 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(i64);

/// A text that is no date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "a date is 2026-01-31, 2026-01-31T12:00Z, 2026-01-31T12:00:00+01:00 (as from `git show -s \
     --format=%cI`), or @SECONDS since 1970; without a zone it is UTC"
)]
pub struct DateError;

impl Date {
    /// The present.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_seconds(i64::try_from(since.as_secs()).unwrap_or(0)).unwrap_or(Self(0))
    }

    /// Seconds since 1970, of the years 0 to 9999.
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        RANGE.contains(&seconds).then_some(Self(seconds))
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0.div_euclid(DAY_SECONDS), self.0.rem_euclid(DAY_SECONDS));
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let seconds = match text.strip_prefix('@') {
            Some(seconds) => seconds.parse().ok(),
            None => seconds_of(text),
        };
        seconds.and_then(Self::from_seconds).ok_or(DateError)
    }
}

fn seconds_of(text: &str) -> Option<i64> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut fields = date.split('-');
    let (year, month, day) =
        (digits(fields.next()?, 4)?, digits(fields.next()?, 2)?, digits(fields.next()?, 2)?);
    let days = days(year, month, day);
    if fields.next().is_some() || civil(days) != (year, month, day) {
        return None;
    }
    Some(days * DAY_SECONDS + time.map_or(Some(0), second_of_day)?)
}

/// `12:00`, `12:00:00`, either with a zone: the seconds since midnight in UTC.
fn second_of_day(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let zone_at = text.find(['Z', 'z', '+', '-']).unwrap_or(text.len());
    let (clock, zone) = text.split_at(zone_at);
    let mut fields = clock.trim_end().split(':');
    let (hour, minute) = (digits(fields.next()?, 2)?, digits(fields.next()?, 2)?);
    let second = fields.next().map_or(Some(0), |second| digits(second, 2))?;
    if fields.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(hour * 3600 + minute * 60 + second - offset(zone)?)
}

/// Seconds east of Greenwich: of nothing, `Z`, `+01:00` or `+0100`.
fn offset(zone: &str) -> Option<i64> {
    let (sign, clock) = match zone.as_bytes().first() {
        None => return Some(0),
        Some(b'Z' | b'z') => return (zone.len() == 1).then_some(0),
        Some(b'+') => (1, &zone[1..]),
        Some(_) => (-1, &zone[1..]),
    };
    let clock = clock.replace(':', "");
    let both = digits(&clock, 4)?;
    let (hour, minute) = (both / 100, both % 100);
    (hour < 24 && minute < 60).then_some(sign * (hour * 3600 + minute * 60))
}

/// A number of exactly so many digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    let whole = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    whole.then(|| text.parse().ok()).flatten()
}

/// Days from 1970-01-01 to a date; of one that does not exist, to one that does.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH_DAYS
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_DAYS;
    let (era, of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<i64> {
        text.parse::<Date>().ok().map(Date::seconds)
    }

    #[test]
    fn dates_are_read_in_the_forms_that_people_have() {
        let noon = Some(1_769_860_800);
        for text in [
            "2026-01-31T12:00:00Z",
            "2026-01-31T12:00Z",
            "2026-01-31 12:00",
            "2026-01-31T13:00:00+01:00",
            "2026-01-31 13:00:00 +0100",
            "2026-01-31T06:30:00-05:30",
            "@1769860800",
        ] {
            assert_eq!(seconds(text), noon, "{text}");
        }
        assert_eq!(seconds("2026-01-31"), Some(1_769_817_600));
        assert_eq!((seconds("1970-01-01"), seconds("1969-12-31T23:59:59Z")), (Some(0), Some(-1)));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "yesterday",
            "2026-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "2026-1-1",
            "2026-01-31T24:00",
            "2026-01-31T12",
            "2026-01-31T12:00:00ZZ",
            "2026-01-31T12:00+1",
            "2026-01-31T12:00+é0",
            "@",
            "@99999999999999",
            "-2026-01-01",
            "2026-01-31-01",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_date_is_read_as_it_is_written(moment in RANGE) {
            let date = Date(moment);
            proptest::prop_assert_eq!(date.to_string().parse(), Ok(date));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = text.parse::<Date>();
        }
    }
}
