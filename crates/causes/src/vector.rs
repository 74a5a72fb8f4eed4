//! One number for each row, and how two such vectors relate. Rows are weighted, so that each counts
//! by its own cost.

/// Of each row, in the order of the rows.
pub(crate) type Vector = Vec<i64>;

/// What one instruction of each row counts.
pub(crate) type Weights = [f64];

#[allow(clippy::cast_precision_loss, reason = "differences are below 2^53; only shares need it")]
fn float(number: i64) -> f64 {
    number as f64
}

/// The weighted sum of the numbers without their signs.
pub(crate) fn size(weights: &Weights, vector: &[i64]) -> f64 {
    weights.iter().zip(vector).map(|(weight, number)| weight * float(*number).abs()).sum()
}

pub(crate) fn add(sum: &mut [i64], more: &[i64]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum += more;
    }
}

/// How alike two vectors are without their signs: the cosine of their angle, from 0 to 1.
pub(crate) fn alike(weights: &Weights, one: &[i64], other: &[i64]) -> f64 {
    let product = |one: &[i64], other: &[i64]| -> f64 {
        let products = weights.iter().zip(one).zip(other);
        products.map(|((weight, one), other)| weight * weight * float((one * other).abs())).sum()
    };
    let lengths = (product(one, one) * product(other, other)).sqrt();
    if lengths > 0.0 { product(one, other) / lengths } else { 0.0 }
}

/// How two vectors take each other back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Balance {
    /// How much of the smaller one, from 0 to 1.
    pub(crate) smaller: f64,
    /// How much of both together, from 0 to 1.
    pub(crate) both: f64,
    /// In how many rows both are there.
    pub(crate) rows: usize,
}

impl Balance {
    pub(crate) fn of(weights: &Weights, one: &[i64], other: &[i64]) -> Self {
        let (first, second) = (size(weights, one), size(weights, other));
        let sum: Vector = one.iter().zip(other).map(|(one, other)| one + other).collect();
        let balanced = first + second - size(weights, &sum);
        let part = |whole: f64| if whole > 0.0 { (balanced / whole).clamp(0.0, 1.0) } else { 0.0 };
        let rows = one.iter().zip(other).filter(|(one, other)| **one != 0 && **other != 0).count();
        Self { smaller: part(2.0 * first.min(second)), both: part(first + second), rows }
    }
}
