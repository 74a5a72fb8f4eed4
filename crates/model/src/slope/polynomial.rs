//! Functions through points, in exact arithmetic: a line, or a parabola.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Points that any parabola goes through: only one more tells that the function is one.
const ANY_PARABOLA: usize = 3;

/// A rational number in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// Its numerator, with the sign.
    pub numerator: i64,
    /// Its denominator, at least 1.
    pub denominator: u64,
}

impl Ratio {
    /// The quotient; None if it has no denominator, or if its terms are too large.
    pub fn of(numerator: i128, denominator: i128) -> Option<Self> {
        let common = common_divisor(numerator.unsigned_abs(), denominator.unsigned_abs());
        let common = i128::try_from(common).ok().filter(|_| denominator != 0)?;
        let common = if denominator < 0 { -common } else { common };
        Some(Self {
            numerator: i64::try_from(numerator.checked_div(common)?).ok()?,
            denominator: u64::try_from(denominator.checked_div(common)?).ok()?,
        })
    }

    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }
}

/// The largest number that divides both.
fn common_divisor(one: u128, other: u128) -> u128 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// A function of N: a constant, so much for each of N, and so much for each of N times N.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Polynomial {
    /// Its value where N is 0.
    pub constant: Ratio,
    /// What N is multiplied by.
    pub per_unit: Ratio,
    /// What the square of N is multiplied by.
    pub per_square: Ratio,
}

impl Polynomial {
    /// The one that goes through all of these points, whose numbers ascend: a line through two or
    /// more, or a parabola through four or more.
    pub fn through(points: &[(u64, u64)]) -> Option<Self> {
        let points: Vec<[i128; 2]> =
            points.iter().map(|&(number, value)| [number.into(), value.into()]).collect();
        let terms = match &points[..] {
            [] | [_] => return None,
            [one, two] => Terms::of_line(*one, *two)?,
            [one, two, three, ..] => Terms::of_parabola(*one, *two, *three)?,
        };
        let is_known = terms.square == 0 || points.len() > ANY_PARABOLA;
        let goes_through = |&[number, value]: &[i128; 2]| terms.have(number, value) == Some(true);
        let holds = is_known && points.iter().all(goes_through);
        if holds { terms.polynomial() } else { None }
    }

    /// Whether its value does not depend on N.
    pub fn is_constant(&self) -> bool {
        self.per_unit.is_zero() && self.per_square.is_zero()
    }
}

/// The terms of a function, all to be divided by one number.
struct Terms {
    constant: i128,
    unit: i128,
    square: i128,
    by: i128,
}

impl Terms {
    /// None if they are too large.
    fn of_line([x0, y0]: [i128; 2], [x1, y1]: [i128; 2]) -> Option<Self> {
        let (by, unit) = (x1 - x0, y1 - y0);
        let constant = y0.checked_mul(by)?.checked_sub(unit.checked_mul(x0)?)?;
        Some(Self { constant, unit, square: 0, by })
    }

    /// By Newton's divided differences; None if they are too large.
    fn of_parabola([x0, y0]: [i128; 2], [x1, y1]: [i128; 2], [x2, y2]: [i128; 2]) -> Option<Self> {
        let square = (y2 - y1).checked_mul(x1 - x0)?;
        let square = square.checked_sub((y1 - y0).checked_mul(x2 - x1)?)?;
        let rest = (x2 - x1).checked_mul(x2 - x0)?;
        let first = (y1 - y0).checked_mul(rest)?;
        let by = (x1 - x0).checked_mul(rest)?;
        let constant = by.checked_mul(y0)?.checked_sub(first.checked_mul(x0)?)?;
        let constant = constant.checked_add(square.checked_mul(x0)?.checked_mul(x1)?)?;
        Some(Self { constant, unit: first.checked_sub(square.checked_mul(x0 + x1)?)?, square, by })
    }

    /// Whether the function has this value there; None if its terms are too large to tell.
    fn have(&self, number: i128, value: i128) -> Option<bool> {
        let sum = self.square.checked_mul(number)?.checked_add(self.unit)?;
        let sum = sum.checked_mul(number)?.checked_add(self.constant)?;
        Some(sum == self.by.checked_mul(value)?)
    }

    fn polynomial(&self) -> Option<Polynomial> {
        Some(Polynomial {
            constant: Ratio::of(self.constant, self.by)?,
            per_unit: Ratio::of(self.unit, self.by)?,
            per_square: Ratio::of(self.square, self.by)?,
        })
    }
}

/// The least and the largest that the square of N is multiplied by in the parabolas through three
/// points that follow each other; None if fewer than two parabolas bend, or two of them in
/// different directions.
pub fn curvature(points: &[(u64, u64)]) -> Option<[Ratio; 2]> {
    let point = |&(number, value): &(u64, u64)| [i128::from(number), i128::from(value)];
    let of_three = |three: &[(u64, u64)]| {
        let terms = Terms::of_parabola(point(&three[0]), point(&three[1]), point(&three[2]))?;
        Ratio::of(terms.square, terms.by)
    };
    let all = points.windows(3).map(of_three).collect::<Option<Vec<Ratio>>>()?;
    let sign = all.first()?.numerator.signum();
    let is_one_way = sign != 0 && all.iter().all(|it| it.numerator.signum() == sign);
    if all.len() < 2 || !is_one_way {
        return None;
    }
    let size = |it: &&Ratio| {
        let (numerator, denominator) = (i128::from(it.numerator), i128::from(it.denominator));
        // Enough digits to order them; each is shown as it is.
        (numerator << 40) / denominator
    };
    Some([*all.iter().min_by_key(size)?, *all.iter().max_by_key(size)?])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ratio(numerator: i64, denominator: u64) -> Ratio {
        Ratio { numerator, denominator }
    }

    fn points(numbers: &[u64], value: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
        numbers.iter().map(|number| (*number, value(*number))).collect()
    }

    #[test]
    fn a_square_in_quarters_is_found_exactly() {
        let found =
            Polynomial::through(&points(&[20, 50, 100, 200], |n| 900 + 328 * n + 25 * n * n / 4));
        let expected = Polynomial {
            constant: ratio(900, 1),
            per_unit: ratio(328, 1),
            per_square: ratio(25, 4),
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn three_points_tell_no_parabola_and_one_tells_nothing() {
        let square = |n: u64| n * n;
        assert_eq!(Polynomial::through(&points(&[1, 2, 3], square)), None);
        assert!(Polynomial::through(&points(&[1, 2, 3, 4], square)).is_some());
        assert_eq!(Polynomial::through(&points(&[1, 2, 3, 4], |n| n * n * n)), None);
        assert_eq!(Polynomial::through(&[(1, 1)]), None);
        assert_eq!(Polynomial::through(&[]), None);
    }

    #[test]
    fn what_is_too_large_to_compute_is_no_function_and_no_panic() {
        let most = u64::from(u32::MAX);
        let huge = [(0, 0), (most / 3, u64::MAX), (most / 2, 5), (most, u64::MAX)];
        assert_eq!(Polynomial::through(&huge), None);
        assert_eq!(Ratio::of(1, 0), None);
        assert_eq!(Ratio::of(i128::MIN, -1), None);
    }

    #[test]
    fn parabolas_that_nearly_agree_have_a_range() {
        let nearly = points(&[25, 50, 100, 200], |n| 1000 + 25 * n * n / 4);
        let [least, most] = curvature(&nearly).unwrap();
        let rounded = |it: Ratio| (100 * it.numerator) / it.denominator.cast_signed();
        assert!(
            (624..=625).contains(&rounded(least)) && rounded(most) == 625,
            "{least:?} {most:?}"
        );
        assert_eq!(curvature(&points(&[1, 2, 3, 4], |n| 7 * n)), None);
        assert_eq!(curvature(&[(1, 1), (2, 5), (3, 1), (4, 5)]), None, "up and down");
        assert_eq!(curvature(&[(1, 1), (2, 5), (3, 11)]), None, "one parabola agrees with itself");
    }

    proptest! {
        #[test]
        fn a_parabola_is_recovered_and_one_that_is_off_by_one_is_none(
            numbers in prop::collection::btree_set(0_u64..5000, 4..9), constant in 0_u64..1_000_000,
            unit in 0_u64..100_000, square in 0_u64..1000, off in any::<prop::sample::Index>(),
        ) {
            let numbers: Vec<u64> = numbers.into_iter().collect();
            let mut points = points(&numbers, |n| constant + unit * n + square * n * n);
            let whole = |value: u64| ratio(value.cast_signed(), 1);
            let expected = Polynomial {
                constant: whole(constant), per_unit: whole(unit), per_square: whole(square),
            };
            prop_assert_eq!(Polynomial::through(&points), Some(expected));
            let off = off.index(points.len());
            points[off].1 += 1;
            let bent = Polynomial::through(&points);
            // Through four points that are nearly on a line there may be another parabola.
            prop_assert!(bent.is_none() || bent != Some(expected));
        }

        #[test]
        fn a_line_of_fractions_is_a_ratio_in_lowest_terms(
            from in 0_u64..1000, units in 1_u64..1000, value in 0_u64..1000, rise in 0_u64..1000,
        ) {
            let ends = [(from, value), (from + units, value + rise)];
            let found = Polynomial::through(&ends).unwrap();
            let Ratio { numerator, denominator } = found.per_unit;
            prop_assert_eq!(numerator.unsigned_abs() * units, rise * denominator);
            prop_assert!(common_divisor(numerator.unsigned_abs().into(), denominator.into()) == 1);
            prop_assert!(found.per_square.is_zero());
        }
    }
}
