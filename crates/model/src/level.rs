//! The level of a path's time: what one execution takes, over all replicates.
//!
//! A replicate's statistic is the 25th percentile of its batches; the level is the median of the
//! replicates, with a bootstrap's interval. Subtracted is what the clock and the loop take, which
//! the path `clock.empty` of the same session tells.

use pathmeter_stats::time::{
    CONFIDENCE, Finite, Interval, Quantile, bootstrap, hodges_lehmann, level, log_ratio, median,
    percent, quantile,
};

use crate::times::float;
use crate::{PathTimes, Times};

/// The path that measures the loop and the clock around all others.
const EMPTY: &str = "clock.empty";

/// What one execution takes, in ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// The median of the replicates.
    pub ticks: f64,
    /// Where it is, with the usual confidence; None of one replicate.
    pub interval: Option<Interval>,
    /// Batches that took more than twice the median of their replicate.
    pub stalls: usize,
    /// All batches.
    pub batches: usize,
}

impl PathTimes {
    /// Executions in a batch.
    pub(crate) fn executions(&self) -> f64 {
        float(self.calls * u64::from(self.repeats))
    }

    /// The 25th percentile of each replicate's batches of one side, in ticks of a batch; the clock
    /// advances in such steps.
    pub fn statistics(&self, side: usize, step: u64) -> Vec<f64> {
        let of_side = self.replicates.iter().filter_map(|replicate| replicate.sides.get(side));
        of_side.filter_map(|batches| level(&mut batches.clone(), step)).collect()
    }

    fn stalls(&self, side: usize) -> (usize, usize) {
        let of_side = self.replicates.iter().filter_map(|replicate| replicate.sides.get(side));
        of_side.fold((0, 0), |(stalls, all), batches| {
            let middle = quantile(&mut batches.clone(), Quantile::P50).unwrap_or(0);
            let long = batches.iter().filter(|ticks| **ticks / 2 > middle).count();
            (stalls + long, all + batches.len())
        })
    }
}

impl Times {
    /// The 25th percentile of each replicate's batches of one side, in ticks of a batch.
    pub fn statistics(&self, path: &PathTimes, side: usize) -> Vec<f64> {
        path.statistics(side, self.method.step)
    }

    /// By how many percent base's copy differs from base (Hodges and Lehmann's estimate over the
    /// replicates). None without both.
    pub fn copy_difference(&self, path: &PathTimes) -> Option<f64> {
        let [base, copy] = [0, 1].map(|side| self.statistics(path, side));
        let ratios = base.iter().zip(&copy).filter_map(|(base, copy)| log_ratio(*base, *copy));
        hodges_lehmann(&Finite::of(&ratios.collect::<Vec<_>>())).map(percent)
    }

    /// The level of a path's side: 0 is base, 2 is new where there are two conditions. None without
    /// times.
    pub fn level(&self, path: &PathTimes, side: usize) -> Option<Level> {
        let replicates = Finite::of(&self.executions(path, side));
        let (stalls, batches) = path.stalls(side);
        let interval = bootstrap(&replicates, median, CONFIDENCE, self.method.seed);
        Some(Level { ticks: median(&replicates)?, interval, stalls, batches })
    }

    /// What one execution takes in each replicate of a side, in ticks.
    pub(crate) fn executions(&self, path: &PathTimes, side: usize) -> Vec<f64> {
        let around = if path.path == EMPTY { 0.0 } else { self.around(path) };
        let one = |batch: f64| ((batch - around) / path.executions()).max(0.0);
        self.statistics(path, side).into_iter().map(one).collect()
    }

    /// Ticks that the clock's readings and the loop take in a batch of this path.
    fn around(&self, path: &PathTimes) -> f64 {
        let stamps = float(self.method.stamps);
        let of_loop = self.path(EMPTY).and_then(|empty| {
            let batches = Finite::of(&self.statistics(empty, 0));
            Some((median(&batches)? - stamps).max(0.0) / float(empty.calls))
        });
        stamps + of_loop.unwrap_or(0.0) * float(path.calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn what_the_clock_and_the_loop_take_is_subtracted() {
        // 50 ticks for the stamps, 2 for each turn of the loop: 50 + 10 * 2 + 10 * 300.
        let times = example::times(&[(EMPTY, 100, &[250; 3]), ("a.b", 10, &[3070; 3])]);
        let level = times.level(times.path("a.b").unwrap(), 0).unwrap();
        assert!((level.ticks - 300.0).abs() < 1e-9, "{level:?}");
    }

    #[test]
    fn a_level_is_the_median_of_the_replicates_and_a_long_batch_is_a_stall() {
        let mut times = example::times(&[("a.b", 1, &[1050, 1150, 1250])]);
        times.paths[0].replicates[0].sides[0][3] = 9000;
        let level = times.level(&times.paths[0], 0).unwrap();
        assert!((level.ticks - 1100.0).abs() < 1e-9, "{level:?}");
        assert_eq!((level.stalls, level.batches), (1, 12));
    }

    #[test]
    fn without_times_there_is_no_level() {
        let mut times = example::times(&[("a.b", 1, &[100; 3])]);
        times.paths[0].replicates.clear();
        assert_eq!(times.level(&times.paths[0], 0), None);
    }
}
