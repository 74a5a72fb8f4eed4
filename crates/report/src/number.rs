//! Numbers as people read them: digits in groups of three, differences with their sign.

use pathmeter_model::Unit;
pub use pathmeter_model::group_digits as grouped;

/// `1 step`, `1,043 steps`.
pub(crate) fn plural(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(count as u64))
}

/// `≥ 111,632` for a lower bound, else as [`grouped`].
pub(crate) fn at_least(value: u64, is_lower_bound: bool) -> String {
    let sign = if is_lower_bound { AT_LEAST } else { "" };
    format!("{sign}{}", grouped(value))
}

/// Before a lower bound, and before an upper one.
pub(crate) const AT_LEAST: &str = "≥ ";
pub(crate) const AT_MOST: &str = "≤ ";

/// `+1`, `-2,042`, and `0` without a sign.
pub fn signed(difference: i64) -> String {
    let sign = match difference {
        ..0 => "-",
        0 => "",
        1.. => "+",
    };
    format!("{sign}{}", grouped(difference.unsigned_abs()))
}

/// What each of so many has of a difference: `+1`, `-2.3`, and `<0.1` or `>-0.1` rather than a zero
/// for what is not.
pub(crate) fn mean(difference: i64, of: u64) -> String {
    let (size, of) = (u128::from(difference.unsigned_abs()), u128::from(of.max(1)));
    let whole = |number: u128| grouped(u64::try_from(number).unwrap_or(u64::MAX));
    let sign = if difference < 0 { "-" } else { "+" };
    let tenths = (20 * size + of) / (2 * of);
    match (size, size % of, tenths) {
        (0, ..) => "0".to_owned(),
        (_, 0, _) => format!("{sign}{}", whole(size / of)),
        (.., 0) => if difference < 0 { ">-0.1" } else { "<0.1" }.to_owned(),
        _ => format!("{sign}{}.{}", whole(tenths / 10), tenths % 10),
    }
}

/// `+0.30 %`; nothing for 0, and `<0.01 %` or `>-0.01 %` rather than a zero for what is not.
pub(crate) fn percent(percent: f64) -> String {
    if percent == 0.0 {
        String::new()
    } else if percent.abs() < 0.005 {
        if percent > 0.0 { "<0.01 %" } else { ">-0.01 %" }.to_owned()
    } else {
        format!("{percent:+.2} %")
    }
}

/// `part` of `whole` as `12.3 %`; nothing for 0, and `<0.1 %` rather than a zero for what is not.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return String::new();
    }
    let whole = u128::from(whole);
    match (u128::from(part) * 1000 + whole / 2) / whole {
        0 => "<0.1 %".to_owned(),
        thousandths => format!("{}.{} %", thousandths / 10, thousandths % 10),
    }
}

/// What a number counts, in words for people.
pub(crate) fn unit_word(unit: Unit) -> &'static str {
    match unit {
        Unit::Instructions => "instructions",
        Unit::Clock => "steps of the clock",
        Unit::Cycles => "cycles",
        Unit::Ns => "ns",
        Unit::Ps => "ps",
        Unit::Check => "check",
    }
}

/// The only unit of these, but for checks, which have no numbers; none if there are several, or no
/// numbers.
pub(crate) fn one_unit(units: impl Iterator<Item = Unit>) -> Option<Unit> {
    let mut units = units.filter(|unit| *unit != Unit::Check);
    let first = units.next()?;
    units.all(|unit| unit == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_bound_has_its_sign() {
        assert_eq!([true, false].map(|bound| at_least(8000, bound)), ["≥ 8,000", "8,000"]);
    }

    #[test]
    fn differences_carry_their_sign() {
        let texts = [0, 1, -2042, i64::MIN].map(signed);
        assert_eq!(texts, ["0", "+1", "-2,042", "-9,223,372,036,854,775,808"]);
    }

    #[test]
    fn a_small_percentage_is_not_shown_as_none() {
        let texts = [0.0, 0.303, -10.0, 0.0009, -0.0009].map(percent);
        assert_eq!(texts, ["", "+0.30 %", "-10.00 %", "<0.01 %", ">-0.01 %"]);
    }

    #[test]
    fn a_share_is_rounded_but_never_to_nothing() {
        let texts = [(0, 9), (1, 3), (2, 3), (1, 9999), (7, 7), (u64::MAX, u64::MAX), (1, 0)]
            .map(|(part, whole)| share(part, whole));
        assert_eq!(texts, ["", "33.3 %", "66.7 %", "<0.1 %", "100.0 %", "100.0 %", ""]);
    }
}
