//! A program's runs with two numbers, in pairs that were disturbed alike.

use pathmeter_stats::Histogram;

use crate::difference::difference;
use crate::{Measurement, PathResult};

/// What a row costs with one number.
pub(super) struct Executions {
    pub(super) value: u64,
    /// The samples of each run, in the order of the runs.
    runs: Vec<Vec<u64>>,
}

impl Executions {
    /// None if the path has no value.
    pub(super) fn of(path: &PathResult) -> Option<Self> {
        let runs = path.runs().into_iter().map(<[u64]>::to_vec).collect();
        Some(Self { value: path.value()?, runs })
    }

    /// A row of a program that did no work of its kind.
    pub(super) fn none(result: &Measurement) -> Self {
        let runs = result.later_runs().unwrap_or(0).max(1);
        Self { value: 0, runs: vec![vec![0]; runs] }
    }
}

/// The runs with two numbers, in pairs.
pub(super) struct Pairs {
    /// The least and the largest difference.
    pub(super) range: [i64; 2],
    /// Whether most have the difference of the two values.
    pub(super) are_most: bool,
}

impl Pairs {
    pub(super) fn of(from: &Executions, to: &Executions) -> Self {
        let runs = from.runs.iter().zip(&to.runs);
        let differences: Vec<i64> = runs.filter_map(|(from, to)| find_middle(from, to)).collect();
        let by = difference((from.value, to.value));
        let agreeing = differences.iter().filter(|it| **it == by).count();
        let range = differences.iter().min().zip(differences.iter().max());
        Self {
            range: range.map_or([by; 2], |(least, most)| [*least, *most]),
            are_most: 2 * agreeing > differences.len(),
        }
    }
}

/// The median of what the executions in a pair of runs differ by, the lower one of two, so that a
/// tick in one of a hundred executions does not count; or the difference of both runs' medians, if
/// there are not as many executions in both, as of a region that is executed once for each unit.
fn find_middle(from: &[u64], to: &[u64]) -> Option<i64> {
    if from.len() != to.len() {
        let median = |run: &[u64]| run.iter().copied().collect::<Histogram>().median();
        return median(from).zip(median(to)).map(difference);
    }
    let pairs = from.iter().zip(to);
    let mut differences: Vec<i64> = pairs.map(|(from, to)| difference((*from, *to))).collect();
    differences.sort_unstable();
    differences.get(differences.len().checked_sub(1)? / 2).copied()
}
