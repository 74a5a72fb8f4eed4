//! The largest change from a value to the next, which charts name.

/// From a value to the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// The place of the first value.
    pub(crate) from: usize,
    /// The place of the second.
    pub(crate) to: usize,
    /// The change in percent of the first value.
    pub(crate) share: f64,
}

/// The largest change in percent between neighbours of these values with their places; none if
/// nothing changes.
pub(crate) fn find_largest_step(values: &[(usize, u64)]) -> Option<Step> {
    let step = |pair: &[(usize, u64)]| Step {
        from: pair[0].0,
        to: pair[1].0,
        share: share(pair[0].1, pair[1].1),
    };
    let steps = values.windows(2).map(step).filter(|step| step.share != 0.0);
    larger_of(steps)
}

/// The larger of steps; the last of those of one size.
pub(crate) fn larger_of(steps: impl Iterator<Item = Step>) -> Option<Step> {
    steps.max_by(|one, other| one.share.abs().total_cmp(&other.share.abs()))
}

/// How much more or less the second is, in percent of the first.
#[allow(clippy::cast_precision_loss, reason = "a percentage is shown to a few digits")]
pub(crate) fn share(from: u64, to: u64) -> f64 {
    100.0 * (to as f64 - from as f64) / from.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_step_may_go_down_and_a_flat_line_has_none() {
        let step = find_largest_step(&[(0, 1000), (2, 1100), (3, 880), (5, 1000)]).unwrap();
        assert_eq!((step.from, step.to), (2, 3));
        assert!((step.share + 20.0).abs() < 1e-9);
        assert_eq!(find_largest_step(&[(0, 7), (1, 7)]), None);
        assert_eq!(find_largest_step(&[(0, 7)]), None);
    }
}
