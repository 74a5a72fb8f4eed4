//! Dates of results: seconds in UTC, read from and written as RFC 3339.

use std::fmt;
use std::str::FromStr;

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use thiserror::Error;

/// 0000-01-01T00:00:00Z and 9999-12-31T00:00:00Z: what four digits of a year can say, in any zone.
const RANGE: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_214_400;

/// A moment, to the second: years 0 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(Timestamp);

/// A text that is no date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "a date is 2026-01-31, 2026-01-31T12:00Z, 2026-01-31T12:00:00+01:00 (as from `git show -s \
     --format=%cI`), or @SECONDS since 1970; without a zone it is UTC"
)]
pub struct DateError;

impl Date {
    pub fn now() -> Self {
        Self::from_seconds(Timestamp::now().as_second()).unwrap_or(Self(Timestamp::UNIX_EPOCH))
    }

    /// Seconds since 1970, of the years 0 to 9999.
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        let moment = Timestamp::from_second(seconds).ok()?;
        RANGE.contains(&seconds).then_some(Self(moment))
    }

    pub fn seconds(self) -> i64 {
        self.0.as_second()
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let seconds = match text.strip_prefix('@') {
            Some(seconds) => seconds.parse().ok(),
            None => moment(text).map(Timestamp::as_second),
        };
        seconds.and_then(Self::from_seconds).ok_or(DateError)
    }
}

/// A date, or a date and a time; with a zone, also as git prints one (`%ci`), or in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let zoned = text.parse().or_else(|_| Timestamp::strptime("%Y-%m-%d %H:%M:%S %z", text));
    let utc = |_| text.parse::<DateTime>()?.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
    zoned.or_else(utc).ok()
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
            let date = Date::from_seconds(moment).unwrap();
            proptest::prop_assert_eq!(date.to_string().parse(), Ok(date));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = text.parse::<Date>();
        }
    }
}
