//! How much of a tree a person wants to see.

use std::str::FromStr;

use thiserror::Error;

/// Hundredths of a percent in the whole.
const WHOLE: u128 = 10_000;
/// A finer limit would be no different from none.
const DECIMALS: usize = 2;

/// What of a tree is shown; the rest is summed in a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Levels shown; None for all.
    pub depth: Option<usize>,
    /// What has fewer instructions is not shown.
    pub least: Least,
    /// Rows of a table of differences, so that all of them fit a screen; None for all.
    pub most: Option<usize>,
    /// Whether functions are shown with where they stand: the place of their entry in its line, and
    /// how many lines and pages of code they take; and, of two windows, those that only moved.
    pub placement: bool,
}

/// The least that is shown by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Least {
    Instructions(u64),
    /// This part of the window's total, in hundredths of a percent.
    Share(u32),
}

impl Default for Least {
    /// Everything that executed at all.
    fn default() -> Self {
        Self::Instructions(0)
    }
}

impl Least {
    /// Whether `count` of `total` instructions are enough to be shown.
    pub(crate) fn is_reached(self, count: u64, total: u64) -> bool {
        match self {
            Self::Instructions(least) => count >= least,
            Self::Share(part) => u128::from(count) * WHOLE >= u128::from(total) * u128::from(part),
        }
    }
}

/// What is neither a count nor a percentage.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` is neither a number of instructions nor a percentage; write `100`, or `0.5%` \
     with at most two decimals"
)]
pub struct LeastError(String);

impl FromStr for Least {
    type Err = LeastError;

    /// `100` for instructions, `0.5%` for a share of the total.
    fn from_str(text: &str) -> Result<Self, LeastError> {
        let parsed = match text.strip_suffix('%') {
            Some(percent) => hundredths(percent.trim_end()).map(Self::Share),
            None => text.parse().ok().map(Self::Instructions),
        };
        parsed.ok_or_else(|| LeastError(text.to_owned()))
    }
}

/// `12.5` as 1250, up to 100.
fn hundredths(percent: &str) -> Option<u32> {
    let (whole, decimals) = percent.split_once('.').unwrap_or((percent, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if percent.is_empty() || decimals.len() > DECIMALS || !digits(whole) || !digits(decimals) {
        return None;
    }
    let value: u32 = format!("{whole}{decimals:0<DECIMALS$}").parse().ok()?;
    (u128::from(value) <= WHOLE).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_count_or_a_share() {
        assert_eq!("100".parse(), Ok(Least::Instructions(100)));
        assert_eq!("0.5%".parse(), Ok(Least::Share(50)));
        assert_eq!("12.34 %".parse(), Ok(Least::Share(1234)));
        for bad in ["", "%", "-1", "1.234%", "101%", "x%", "1.5", "+1%"] {
            assert_eq!(bad.parse::<Least>(), Err(LeastError(bad.to_owned())), "{bad}");
        }
    }

    #[test]
    fn a_share_is_of_the_total_and_exact() {
        let third = Least::Share(3333);
        assert!(!third.is_reached(33, 100));
        assert!(third.is_reached(34, 100));
        assert!(Least::Share(10_000).is_reached(u64::MAX, u64::MAX));
        assert!(Least::default().is_reached(0, 0));
    }
}
