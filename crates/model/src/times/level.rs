//! The level of a path's time: what one execution takes, over all replicates.
//!
//! A replicate's statistic is the 25th percentile of its batches; the level is the median of the
//! replicates, with a bootstrap's interval. Subtracted is what the clock and the loop take, which
//! the path `clock.empty` of the same session tells ([`Around`]).
//!
//! A core executes the instructions of a short path and those of the loop side by side. What a path
//! takes by itself can't be told if that is less than a turn of the loop: such a path has the turn
//! as its level, which is an upper bound.

use pathmeter_stats::time::{
    CONFIDENCE, Finite, Interval, Quantile, bootstrap, hodges_lehmann, level, log_ratio, median,
    percent, quantile,
};

use crate::times::document::float;
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
    /// All batches, the stalled ones included.
    pub batches: usize,
    /// Whether the path takes more than a turn of the loop around it; otherwise `ticks` is that
    /// turn, and the path takes less.
    pub is_resolved: bool,
}

/// What stands around the calls of a session's batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Around {
    /// The least difference of two readings of the clock, in ticks.
    step: u64,
    /// Ticks of the two readings of the clock, once in a batch.
    stamps: f64,
    /// Ticks of a turn of the loop, once in a call.
    turn: f64,
}

impl Around {
    /// Reads it from the times of the path `clock.empty`, if the session has them. The clock
    /// advances in steps of `step` ticks, and a batch without calls takes `stamps` ticks.
    pub fn of(empty: Option<&PathTimes>, step: u64, stamps: u64) -> Self {
        let stamps = float(stamps);
        let turn = empty.and_then(|empty| {
            let batches = Finite::of(&empty.statistics(0, step));
            Some((median(&batches)? - stamps).max(0.0) / float(empty.calls))
        });
        Self { step, stamps, turn: turn.unwrap_or(0.0) }
    }

    /// What one execution of the path takes in each replicate of a side, in ticks: never less than
    /// its share of a turn of the loop.
    pub fn executions(&self, path: &PathTimes, side: usize) -> Vec<f64> {
        let all = self.stamps + self.turn * float(path.calls);
        let around = if path.path == EMPTY { 0.0 } else { all };
        let one = |batch: f64| ((batch - around) / path.executions()).max(self.floor(path));
        path.statistics(side, self.step).into_iter().map(one).collect()
    }

    /// The least ticks of one execution that can be told: its share of a turn of the loop.
    fn floor(&self, path: &PathTimes) -> f64 {
        if path.path == EMPTY { 0.0 } else { self.turn / f64::from(path.repeats) }
    }
}

impl PathTimes {
    /// How many executions a batch has.
    pub(crate) fn executions(&self) -> f64 {
        float(self.calls * u64::from(self.repeats))
    }

    /// The 25th percentile of each replicate's batches of one side, in ticks of a batch; the clock
    /// advances in such steps.
    pub(crate) fn statistics(&self, side: usize, step: u64) -> Vec<f64> {
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
    /// What stands around the calls of a batch.
    pub(crate) fn around(&self) -> Around {
        Around::of(self.path(EMPTY), self.method.step, self.method.stamps)
    }

    /// By how many percent base's copy differs from base (Hodges and Lehmann's estimate over the
    /// replicates). None without both, and of a path that is not resolved.
    pub fn copy_difference(&self, path: &PathTimes) -> Option<f64> {
        self.level(path, 0).filter(|level| level.is_resolved)?;
        let [base, copy] = [0, 1].map(|side| self.executions(path, side));
        let ratios = base.iter().zip(&copy).filter_map(|(base, copy)| log_ratio(*base, *copy));
        hodges_lehmann(&Finite::of(&ratios.collect::<Vec<_>>())).map(percent)
    }

    /// The level of a path's side: 0 is base, 2 is new where there are two conditions. None without
    /// times.
    pub fn level(&self, path: &PathTimes, side: usize) -> Option<Level> {
        let replicates = Finite::of(&self.executions(path, side));
        let (stalls, batches) = path.stalls(side);
        let ticks = median(&replicates)?;
        let is_resolved = self.is_resolved(path, side);
        let interval = bootstrap(&replicates, median, CONFIDENCE, self.method.seed);
        let interval = interval.filter(|_| is_resolved);
        Some(Level { ticks, interval, stalls, batches, is_resolved })
    }

    /// Whether a side of the path takes more than a turn of the loop around it, or has no times.
    pub(crate) fn is_resolved(&self, path: &PathTimes, side: usize) -> bool {
        let around = self.around();
        let floor = around.floor(path);
        let level = median(&Finite::of(&around.executions(path, side)));
        floor <= 0.0 || level.is_none_or(|level| level > floor)
    }

    /// What one execution takes in each replicate of a side, in ticks.
    pub(crate) fn executions(&self, path: &PathTimes, side: usize) -> Vec<f64> {
        self.around().executions(path, side)
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

    /// A turn of the loop is 2 ticks, and the path in it takes half a tick more.
    #[test]
    fn a_path_that_takes_less_than_the_loop_has_that_as_its_bound() {
        let of = |ticks: u64| {
            let times = example::times(&[(EMPTY, 100, &[250; 3]), ("a.b", 100, &[ticks; 3])]);
            times.level(times.path("a.b").unwrap(), 0).unwrap()
        };
        let (short, long) = (of(300), of(50 + 100 * 5));
        assert!((short.ticks - 2.0).abs() < 1e-9 && (long.ticks - 3.0).abs() < 1e-9);
        assert_eq!([short.is_resolved, long.is_resolved], [false, true]);
        assert_eq!([short.interval.is_some(), long.interval.is_some()], [false, true]);
    }

    /// A path takes 400 ticks of its batch of 650: 4 more are 1 % of the path.
    #[test]
    fn a_copy_differs_in_parts_of_the_path_and_not_of_the_batch() {
        let mut times = example::times(&[(EMPTY, 100, &[250; 3]), ("a.b", 100, &[650; 3])]);
        for replicate in &mut times.paths[1].replicates {
            replicate.sides[1] = vec![654; 4];
        }
        let difference = times.copy_difference(&times.paths[1]).unwrap();
        assert!((difference - 1.0).abs() < 1e-9, "{difference}");
    }

    #[test]
    fn without_times_there_is_no_level() {
        let mut times = example::times(&[("a.b", 1, &[100; 3])]);
        times.paths[0].replicates.clear();
        assert_eq!(times.level(&times.paths[0], 0), None);
    }
}
