//! What a row costs for each unit, in numbers: of a function exactly, of a row that scatters the
//! least and the most that pairs of runs allow.

use pathmeter_model::{
    LengthStep, ProgramSlopeResult, ProgramSlopeRow, Ratio, SlopePiece, curvature,
};

use crate::number::grouped;
use crate::slope::slope;

/// Most digits after the point with which a fraction is shown as it is.
const MOST_DIGITS: u32 = 4;

/// `328`, `-6.25`, or `1,000/3` where no few digits are exact.
pub(super) fn ratio(Ratio { numerator, denominator }: Ratio) -> String {
    let sign = if numerator < 0 { "-" } else { "" };
    let size = numerator.unsigned_abs();
    let (whole, rest) = (grouped(size / denominator), u128::from(size % denominator));
    match digits(denominator) {
        Some(0) => format!("{sign}{whole}"),
        Some(digits) => {
            let rest = rest * u128::from(10_u64.pow(digits)) / u128::from(denominator);
            format!("{sign}{whole}.{rest:0width$}", width = digits as usize)
        }
        None => format!("{sign}{}/{}", grouped(size), grouped(denominator)),
    }
}

/// With how many digits after the point a fraction of this denominator is exact.
fn digits(denominator: u64) -> Option<u32> {
    (0..=MOST_DIGITS).find(|digits| 10_u64.pow(*digits).is_multiple_of(denominator))
}

/// Whether it is shown with a point, and not as a fraction.
fn is_short(of: Ratio) -> bool {
    digits(of.denominator).is_some()
}

/// `+328`, and `0` without a sign.
pub(super) fn signed_ratio(of: Ratio) -> String {
    let sign = if of.numerator > 0 { "+" } else { "" };
    format!("{sign}{}", ratio(of))
}

/// What each of so many has of a range, rounded away from its middle to tenths or hundredths:
/// `+326.9…+329.4`.
pub(super) fn range([least, most]: [i64; 2], of: u64) -> String {
    let of = i128::from(of.max(1));
    let [least, most] = [i128::from(least) * 10, i128::from(most) * 10];
    let (low, high) = (least.div_euclid(of), -(-most).div_euclid(of));
    let tenths = |it: i128| Ratio::of(it, 10).map_or_else(String::new, signed_ratio);
    if low == high { tenths(low) } else { format!("{}…{}", tenths(low), tenths(high)) }
}

/// What each unit of a piece costs: `+1,070.5`, or `+50 in 3` where no few digits are exact.
pub(super) fn each_of(piece: &SlopePiece) -> String {
    let of = Ratio::of(piece.difference.into(), i128::from(piece.to - piece.from));
    of.filter(|it| is_short(*it)).map_or_else(|| slope(piece), signed_ratio)
}

/// What each unit costs: `+328`, `+328 and +6.25 N²`, `+328 up to 50, about +6.21…+6.27 N²`, or
/// `+326.9…+329.4`.
pub(super) fn each(result: &ProgramSlopeResult, row: &ProgramSlopeRow) -> String {
    match (row.function, row.pieces.first()) {
        (Some(it), _) if it.per_square.is_zero() => signed_ratio(it.per_unit),
        (Some(it), _) => format!(
            "{} and {} {}²",
            signed_ratio(it.per_unit),
            signed_ratio(it.per_square),
            result.word
        ),
        (None, Some(piece)) => {
            let square = square(result, row).map_or_else(String::new, |it| format!(", about {it}"));
            format!("{} up to {}{square}", each_of(piece), piece.to)
        }
        (None, None) => range(row.range(), units(result, result.numbers.len() - 1)),
    }
}

/// Where a row bends, or how it scatters: `from 50 +330, from 100 +352; about +6.21…+6.27 N²`.
pub(super) fn remark(result: &ProgramSlopeResult, row: &ProgramSlopeRow) -> String {
    if row.function.is_some() {
        return describe_steps(row);
    }
    let pieces = row.pieces.iter().skip(1);
    let bends: Vec<String> =
        pieces.map(|piece| format!("from {} {}", piece.from, each_of(piece))).collect();
    let bends = Some(bends.join(", ")).filter(|it| !it.is_empty());
    let scatters = row.scatters.then(|| format!("scatters: {}", scatter(result, row)));
    let is_bent = bends.is_some() || row.is_bent(&result.numbers, result.longest_of_one_length());
    let square = square(result, row).filter(|_| is_bent).map(|it| format!("about {it}"));
    [bends, scatters, square].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// What longer numbers cost beside the function: `+39 from 100, +41 from 1,000`; empty without any.
pub(super) fn describe_steps(row: &ProgramSlopeRow) -> String {
    let step = |step: &LengthStep| {
        let sign = if step.difference > 0 { "+" } else { "-" };
        format!("{sign}{} from {}", grouped(step.difference.unsigned_abs()), grouped(step.from))
    };
    row.steps.iter().filter(|step| step.difference != 0).map(step).collect::<Vec<_>>().join(", ")
}

/// About how much a row that bends costs for each of N times N: `+6.21…+6.27 N²`; none if the
/// pieces do not bend in one direction.
pub(super) fn square(result: &ProgramSlopeResult, row: &ProgramSlopeRow) -> Option<String> {
    let points: Vec<(u64, u64)> =
        result.numbers.iter().copied().zip(row.values.iter().copied()).collect();
    let [least, most] = curvature(&points)?;
    let hundredths = |of: Ratio, up: bool| {
        let (size, by) = (i128::from(of.numerator) * 100, i128::from(of.denominator));
        let rounded = if up { -(-size).div_euclid(by) } else { size.div_euclid(by) };
        Ratio::of(rounded, 100).map_or_else(String::new, signed_ratio)
    };
    let (least, most) = (hundredths(least, false), hundredths(most, true));
    let about = if least == most { least } else { format!("{least}…{most}") };
    Some(format!("{about} {}²", result.word))
}

/// `+326.9…+329.4 each`; of a row that also bends `+300…+310 from 25 to 50, +802…+810 from 25 to
/// 200`; and `-120…+310 in all` where runs differ in both directions.
fn scatter(result: &ProgramSlopeResult, row: &ProgramSlopeRow) -> String {
    if !row.depends() {
        let ends = row.ranges.iter().flatten();
        let all = ends.fold([0, 0], |[least, most], it| [least.min(*it), most.max(*it)]);
        return format!("{} in all", range(all, 1));
    }
    chords(result, row).map_or_else(
        || format!("{} each", range(row.range(), units(result, result.numbers.len() - 1))),
        |chords| chords.map(|(each, between)| format!("{each} {between}")).join(", "),
    )
}

/// What each costs from one number to the next, and to the last of the same length, if a row that
/// scatters bends between: `+300…+310` and `from 25 to 50`.
pub(super) fn chords(
    result: &ProgramSlopeResult,
    row: &ProgramSlopeRow,
) -> Option<[(String, String); 2]> {
    let (numbers, places) = (&result.numbers, result.longest_of_one_length());
    if !row.is_bent(numbers, places.clone()) {
        return None;
    }
    let begin = places.start;
    let chord = |to: usize| {
        let (first, last) = (numbers.get(begin)?, numbers.get(to)?);
        let each = range(row.range_between(begin, to)?, last - first);
        Some((each, format!("from {first} to {last}")))
    };
    Some([chord(begin + 1)?, chord(places.end - 1)?])
}

/// How many units the number at this place has more than the first.
fn units(result: &ProgramSlopeResult, at: usize) -> u64 {
    let ends = result.numbers.get(at).zip(result.numbers.first());
    ends.map_or(1, |(to, from)| to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numerator: i64, denominator: u64) -> Ratio {
        Ratio { numerator, denominator }
    }

    #[test]
    fn a_ratio_is_shown_exactly() {
        let shown = [(328, 1), (25, 4), (-25, 4), (1, 16), (-1, 8), (100_000, 3), (4001, 20)]
            .map(|(numerator, denominator)| ratio(of(numerator, denominator)));
        assert_eq!(shown, ["328", "6.25", "-6.25", "0.0625", "-0.125", "100,000/3", "200.05"]);
        assert_eq!([0, 7, -7].map(|it| signed_ratio(of(it, 1))), ["0", "+7", "-7"]);
    }

    #[test]
    fn a_range_holds_what_it_is_rounded_from() {
        assert_eq!(range([57_208, 57_640], 175), "+326.9…+329.4");
        assert_eq!(range([-57_640, -57_208], 175), "-329.4…-326.9");
        assert_eq!(range([-120, 310], 1), "-120…+310");
        assert_eq!(range([350, 350], 175), "+2");
        assert_eq!(range([0, 1], 1000), "0…+0.1");
    }
}
