//! Values of a history as people read them: counts whole, and times, which are kept in picoseconds,
//! in nanoseconds.

use pathmeter_model::{Unit, float};

use crate::number::{grouped, unit_word};
use crate::times::time;

/// How many picoseconds a nanosecond has.
const PICOSECONDS: f64 = 1000.0;

/// A value of this unit.
pub(crate) fn amount(value: u64, unit: Unit) -> String {
    match unit {
        Unit::Ps => time(float(value) / PICOSECONDS),
        _ => grouped(value),
    }
}

/// What [`amount`] counts, in words.
pub(super) fn word(unit: Unit) -> &'static str {
    match unit {
        Unit::Ps => "ns",
        other => unit_word(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picoseconds_are_shown_in_nanoseconds_and_counts_as_they_are() {
        let shown = [350, 92_140, 4_123_456].map(|value| amount(value, Unit::Ps));
        assert_eq!(shown, ["0.35", "92.1", "4,123"]);
        assert_eq!(amount(4_123_456, Unit::Instructions), "4,123,456");
        assert_eq!([Unit::Ps, Unit::Instructions].map(word), ["ns", "instructions"]);
    }
}
