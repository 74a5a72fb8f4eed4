//! Days, as budgets expire.

use jiff::{Timestamp, tz::TimeZone};

pub use jiff::civil::Date;

/// The day of this host's clock, in UTC.
pub fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}
