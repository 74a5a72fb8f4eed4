//! A range in which a value lies with a stated confidence.

/// The confidence of all intervals, but where another one is said.
pub const CONFIDENCE: f64 = 0.95;

/// A closed range, in the unit of what it is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// The distance of its ends.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Whether `value` lies in it, its ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether it lies between `-bound` and `bound`, and touches neither.
    pub fn is_within(&self, bound: f64) -> bool {
        -bound < self.low && self.high < bound
    }

    /// How far it lies from 0; 0 if it contains 0.
    pub fn distance_from_zero(&self) -> f64 {
        self.low.max(-self.high).max(0.0)
    }
}
