//! Numbers that can be ordered and subtracted: what was measured, without NaN and infinities.

/// Finite numbers in the order in which they came, and how many others were left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finite {
    values: Vec<f64>,
    ignored: usize,
}

impl Finite {
    /// Those of `values` whose differences are finite too: none that is NaN, infinite, or beyond
    /// half of the largest number.
    pub fn of(values: &[f64]) -> Self {
        let is_usable = |value: &f64| value.abs() <= f64::MAX / 2.0;
        let usable: Vec<f64> = values.iter().copied().filter(is_usable).collect();
        Self { ignored: values.len() - usable.len(), values: usable }
    }

    /// The numbers, in their order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many were left out.
    pub fn ignored(&self) -> usize {
        self.ignored
    }
}
