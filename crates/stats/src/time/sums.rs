//! The distribution of a sum of ranks if the two sides do not differ: what a test compares with.
//!
//! Up to [`EXACT`] ranks it is counted, also with ties: given the ranks, every choice of them is
//! equally likely (Hollander & Wolfe, "Nonparametric Statistical Methods", 2nd edition, 1999, 3.1
//! and 4.1, and their remarks on the conditional distribution with tied observations). Beyond, it
//! is the normal distribution of the same mean and variance, ties included, with the correction
//! for continuity. The sums' tails are lighter than the normal ones, so that errs to "no
//! difference".
//!
//! Ranks are doubled throughout, which makes the mean rank of tied values an integer.

use super::normal::upper_tail;

/// The most ranks whose sums are counted: 2^50 choices and more still are exact in an f64, and
/// counting takes milliseconds.
pub(super) const EXACT: usize = 50;

/// The smallest step of a doubled sum without ties is 2.
const HALF_STEP: f64 = 1.0;

/// The doubled ranks of so many values of which no two are alike.
pub(super) fn regular(count: usize) -> Vec<usize> {
    (1..=count).map(|rank| 2 * rank).collect()
}

/// How likely each sum is.
pub(super) enum Sums {
    /// How many choices have each sum, from 0; and how many there are.
    Counted { choices: Vec<f64>, all: f64 },
    /// The normal distribution, for a sum of many.
    Normal { mean: f64, deviation: f64 },
}

#[allow(clippy::cast_precision_loss, reason = "numbers of ranks and their sums are small")]
impl Sums {
    /// The sum of the ranks that a coin's throw picks, a throw each (the signed-rank statistic).
    pub(super) fn of_any(ranks: &[usize]) -> Self {
        if ranks.len() > EXACT {
            return Self::normal_of_any(ranks);
        }
        let mut choices = vec![0.0; ranks.iter().sum::<usize>() + 1];
        choices[0] = 1.0;
        for &rank in ranks {
            for sum in (rank..choices.len()).rev() {
                choices[sum] += choices[sum - rank];
            }
        }
        Self::Counted { all: choices.iter().sum(), choices }
    }

    fn normal_of_any(ranks: &[usize]) -> Self {
        let squares: f64 = ranks.iter().map(|&rank| (rank as f64).powi(2)).sum();
        let mean = ranks.iter().sum::<usize>() as f64 / 2.0;
        Self::Normal { mean, deviation: squares.sqrt() / 2.0 }
    }

    /// The sum of `count` of the ranks, each choice of so many as likely (the rank-sum statistic).
    pub(super) fn of_so_many(ranks: &[usize], count: usize) -> Self {
        if ranks.len() > EXACT {
            return Self::normal_of_so_many(ranks, count);
        }
        let mut ascending = ranks.to_vec();
        ascending.sort_unstable();
        let width = ascending.iter().rev().take(count).sum::<usize>() + 1;
        let mut rows = vec![vec![0.0; width]; count + 1];
        rows[0][0] = 1.0;
        for &rank in ranks {
            for taken in (1..=count).rev() {
                let (before, after) = rows.split_at_mut(taken);
                let from = &before[taken - 1][..width.saturating_sub(rank)];
                after[0][rank..].iter_mut().zip(from).for_each(|(sum, fewer)| *sum += fewer);
            }
        }
        let choices = rows.pop().unwrap_or_default();
        Self::Counted { all: choices.iter().sum(), choices }
    }

    fn normal_of_so_many(ranks: &[usize], count: usize) -> Self {
        let (total, count) = (ranks.len() as f64, count as f64);
        let mean = ranks.iter().sum::<usize>() as f64 / total;
        let squares: f64 = ranks.iter().map(|&rank| (rank as f64 - mean).powi(2)).sum();
        let variance = count * (total - count) / (total * (total - 1.0)) * squares;
        Self::Normal { mean: count * mean, deviation: variance.sqrt() }
    }

    /// The probability of `sum` or less.
    pub(super) fn at_most(&self, sum: usize) -> f64 {
        match self {
            Self::Counted { choices, all } => choices.iter().take(sum + 1).sum::<f64>() / all,
            Self::Normal { mean, deviation } => tail((mean - HALF_STEP - sum as f64) / deviation),
        }
    }

    /// The probability of `sum` or more.
    pub(super) fn at_least(&self, sum: usize) -> f64 {
        match self {
            Self::Counted { choices, all } => choices.iter().skip(sum).sum::<f64>() / all,
            Self::Normal { mean, deviation } => tail((sum as f64 - HALF_STEP - mean) / deviation),
        }
    }

    /// The probability of a sum as far out as `sum`, on either side.
    pub(super) fn two_sided(&self, sum: usize) -> f64 {
        (2.0 * self.at_most(sum).min(self.at_least(sum))).min(1.0)
    }
}

/// The normal tail; all of it if the sums do not vary.
fn tail(z: f64) -> f64 {
    if z.is_finite() { upper_tail(z) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-10, "{value}, not {expected}");
    }

    #[test]
    fn sums_of_signed_ranks_are_distributed_as_in_r() {
        // R 4.2.2: psignrank(k, 20)
        let sums = Sums::of_any(&regular(20));
        for (sum, probability) in [
            (0, 9.536_743_164_06e-7),
            (5, 9.536_743_164_06e-6),
            (20, 3.538_131_713_87e-4),
            (40, 6.808_280_944_82e-3),
            (60, 4.865_360_260_01e-2),
        ] {
            assert_close(sums.at_most(2 * sum), probability);
            assert_close(sums.at_least(2 * (210 - sum)), probability);
        }
    }

    #[test]
    fn rank_sums_are_distributed_as_in_r() {
        // R 4.2.2: pwilcox(k, 10, 8), which begins at the least sum of ten ranks.
        let sums = Sums::of_so_many(&regular(18), 10);
        for (sum, probability) in [
            (0, 2.285_296_402_94e-5),
            (5, 4.342_063_165_59e-4),
            (20, 4.156_954_156_95e-2),
            (30, 2.041_226_747_11e-1),
        ] {
            assert_close(sums.at_most(2 * (55 + sum)), probability);
            assert_close(sums.at_least(2 * (55 + 80 - sum)), probability);
        }
    }

    #[test]
    fn counted_sums_have_lighter_tails_than_normal_ones() {
        let ranks = regular(EXACT);
        let normal = Sums::normal_of_any(&ranks);
        for sum in (0..750).step_by(10) {
            let (counted, normal) = (Sums::of_any(&ranks).at_most(sum), normal.at_most(sum));
            assert!(counted <= normal && counted <= 0.0251, "{sum}: {counted} {normal}");
        }
    }
}
