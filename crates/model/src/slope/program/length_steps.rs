//! The function through a row's values, and the steps of numbers with more digits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::difference::difference;
use crate::slope::document::fit_pieces;
use crate::{Polynomial, SlopePiece};

/// What a row costs more, or less, from a number on that has more digits than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LengthStep {
    /// The first number with more digits.
    pub from: u64,
    /// By how many instructions, beside the function.
    pub difference: i64,
}

/// A number with what a row costs.
type Point = (u64, u64);

/// The function, its linear pieces, and the steps between numbers of different lengths.
type Fitted = (Option<Polynomial>, Vec<SlopePiece>, Vec<LengthStep>);

/// The function through the values with these numbers, which have these digits. Steps are taken out
/// if it is a line then and else none, and if there are more values than the line has terms.
pub(super) fn fit_values(digits: &[String], numbers: &[u64], values: &[u64]) -> Fitted {
    let points: Vec<Point> = numbers.iter().copied().zip(values.iter().copied()).collect();
    let (function, pieces) = fit_points(&points);
    if function.is_some() {
        return (function, pieces, Vec::new());
    }
    let lengths: Vec<usize> = digits.iter().map(String::len).collect();
    let stepped = take_out_steps(&lengths, &points);
    let fitted = stepped.and_then(|(points, steps)| match fit_points(&points) {
        (Some(line), pieces) if line.per_square.is_zero() => Some((Some(line), pieces, steps)),
        _ => None,
    });
    fitted.unwrap_or((None, pieces, Vec::new()))
}

fn fit_points(points: &[Point]) -> (Option<Polynomial>, Vec<SlopePiece>) {
    let first = points.first().map_or(0, |(_, value)| *value);
    let rises = points.iter().map(|(number, value)| (*number, difference((first, *value))));
    let (_, pieces) = fit_pieces(&rises.collect::<Vec<_>>());
    (Polynomial::through(points), pieces)
}

/// The points as they would be if longer numbers cost no more, and what they cost more: what is
/// left of the difference between the last number of a length and the first of the next one, with
/// the slope of two numbers of one length. None if that slope is not known, or if any points would
/// be on such a line.
fn take_out_steps(lengths: &[usize], points: &[Point]) -> Option<(Vec<Point>, Vec<LengthStep>)> {
    let is_step = |at: usize| lengths[at] != lengths[at - 1];
    let steps = (1..points.len()).filter(|at| is_step(*at)).count();
    // A line has two terms.
    if steps == 0 || points.len() <= 2 + steps {
        return None;
    }
    let slope = (1..points.len()).find(|at| !is_step(*at)).map(|at| rise(points, at))?;
    let (mut taken, mut steps, mut level) = (vec![points[0]], Vec::new(), 0_i128);
    for at in 1..points.len() {
        let (number, value) = points[at];
        if is_step(at) {
            let (by, units) = rise(points, at);
            let of_slope = units.checked_mul(slope.0)?;
            let step = (of_slope % slope.1 == 0).then(|| by - of_slope / slope.1)?;
            level += step;
            steps.push(LengthStep { from: number, difference: i64::try_from(step).ok()? });
        }
        taken.push((number, u64::try_from(i128::from(value) - level).ok()?));
    }
    Some((taken, steps))
}

/// By what the value and the number at this place are larger than those before.
fn rise(points: &[Point], at: usize) -> (i128, i128) {
    let [(from, low), (to, high)] = [points[at - 1], points[at]];
    (i128::from(high) - i128::from(low), i128::from(to) - i128::from(from))
}
