//! By how much two sides differ: Hodges and Lehmann's estimate, with Wilcoxon's interval and
//! p-value.
//!
//! The candidates for the difference are the averages of two pairs' differences, a pair with itself
//! included, or, without pairs, the differences of each new from each base value. The estimate is
//! the candidates' median, and the interval cuts off as many at either end as the statistic's
//! distribution allows. Sources: Hodges & Lehmann, "Estimates of location based on rank tests",
//! Ann. Math. Stat. 34, 1963; Hollander & Wolfe, "Nonparametric Statistical Methods", 2nd edition,
//! 1999, 3.1 to 3.3 and 4.1 to 4.3; R's `wilcox.test`, which gives the same numbers where it
//! counts. It takes the normal distribution with ties; here they are counted too ([`super::sums`]).
//!
//! What is assumed: with pairs, that a difference is as likely above its centre as below by as
//! much, which drawing the order of each pair at random makes true of no difference; without,
//! that the two sides' distributions have one shape. And that replicates do not depend on each
//! other.

use super::sums::{Sums, regular};
use super::{Finite, Interval};

/// The difference of two sides, in the unit of the values.
pub struct Location {
    /// What the difference may be, in ascending order; at least one.
    candidates: Vec<f64>,
    /// The difference's distribution in counts of candidates below it, were there no ties.
    sums: Sums,
    /// The least (doubled) sum of ranks.
    least: usize,
    p: f64,
}

impl Location {
    /// The centre of the differences of pairs, new less base. None without pairs.
    pub fn of_pairs(differences: &Finite) -> Option<Self> {
        let differences = differences.values();
        let candidates = averages(differences);
        (!candidates.is_empty()).then(|| {
            let sums = Sums::of_any(&regular(differences.len()));
            let p = signed_rank(differences, &sums);
            Self { candidates, sums, least: 0, p }
        })
    }

    /// The shift from the values of `base` to those of `new`. None if either has none.
    pub fn of_sides(base: &Finite, new: &Finite) -> Option<Self> {
        let (base, new) = (base.values(), new.values());
        let mut candidates: Vec<f64> =
            new.iter().flat_map(|new| base.iter().map(move |base| new - base)).collect();
        candidates.sort_unstable_by(f64::total_cmp);
        let fewer = base.len().min(new.len());
        (!candidates.is_empty()).then(|| {
            let sums = Sums::of_so_many(&regular(base.len() + new.len()), fewer);
            let p = rank_sum(base, new, &sums);
            Self { candidates, sums, least: fewer * (fewer + 1), p }
        })
    }

    /// The estimate: the candidates' median.
    pub fn estimate(&self) -> f64 {
        middle(&self.candidates)
    }

    /// The probability, were there no difference, of ranks that speak as much for one, in either
    /// direction.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// The interval that contains the difference with this confidence, or a little more. None if
    /// there are too few values for it.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let cut = self.beyond((1.0 - confidence) / 2.0)?;
        let low = *self.candidates.get(cut)?;
        let high = *self.candidates.get(self.candidates.len().checked_sub(cut + 1)?)?;
        (low <= high).then_some(Interval { low, high })
    }

    /// How many candidates may be cut off at one end, if the difference may lie beyond with this
    /// probability. None if not even the outermost may be the end.
    fn beyond(&self, probability: f64) -> Option<usize> {
        // Counts `from..to` were not looked at yet; all lower ones may be cut off.
        let (mut from, mut to) = (0, self.candidates.len());
        while from < to {
            let count = usize::midpoint(from, to);
            if self.sums.at_most(self.least + 2 * count) <= probability {
                from = count + 1;
            } else {
                to = count;
            }
        }
        from.checked_sub(1)
    }
}

/// The estimate of [`Location::of_pairs`] alone, which is also that of the centre of one side's
/// values. None without values.
pub fn hodges_lehmann(values: &Finite) -> Option<f64> {
    let candidates = averages(values.values());
    (!candidates.is_empty()).then(|| middle(&candidates))
}

/// Whether the interval of the centre of these values, with [`super::CONFIDENCE`], is at most as
/// wide. False of too few. Values that all lie farther off by the same give the same answer.
pub fn is_narrower(values: &[f64], width: f64) -> bool {
    let location = Location::of_pairs(&Finite::of(values));
    let interval = location.and_then(|location| location.interval(super::CONFIDENCE));
    interval.is_some_and(|interval| interval.width() <= width)
}

/// The value in the middle, or the mean of the two. None without values.
pub fn median(values: &Finite) -> Option<f64> {
    let mut values = values.values().to_vec();
    values.sort_unstable_by(f64::total_cmp);
    (!values.is_empty()).then(|| middle(&values))
}

/// The averages of each two values, and of each with itself, in ascending order (Walsh).
fn averages(values: &[f64]) -> Vec<f64> {
    let with_later = |(at, one): (usize, &f64)| {
        let one = *one;
        values[at..].iter().map(move |other| one / 2.0 + other / 2.0)
    };
    let mut averages: Vec<f64> = values.iter().enumerate().flat_map(with_later).collect();
    averages.sort_unstable_by(f64::total_cmp);
    averages
}

fn middle(ascending: &[f64]) -> f64 {
    let at = |at: usize| ascending.get(at).copied().unwrap_or(f64::NAN);
    let half = ascending.len() / 2;
    if ascending.len() % 2 == 1 {
        at(half)
    } else {
        at(half.wrapping_sub(1)) / 2.0 + at(half) / 2.0
    }
}

/// The doubled ranks of values, in their order: values that are alike share their mean rank.
fn ranks(values: &[f64]) -> Vec<usize> {
    let mut ascending = values.to_vec();
    ascending.sort_unstable_by(f64::total_cmp);
    let rank = |value: &f64| {
        let below = ascending.partition_point(|other| other < value);
        let up_to = ascending.partition_point(|other| other <= value);
        below + 1 + up_to
    };
    values.iter().map(rank).collect()
}

/// The signed-rank test's p-value; `regular` are the sums of as many ranks without ties.
/// Differences of 0 are left out, as Wilcoxon and R do.
fn signed_rank(differences: &[f64], regular: &Sums) -> f64 {
    let moved: Vec<f64> = differences.iter().copied().filter(|it| *it != 0.0).collect();
    let ranks = ranks(&moved.iter().map(|it| it.abs()).collect::<Vec<f64>>());
    let positive = moved.iter().zip(&ranks).filter(|(it, _)| **it > 0.0);
    let sum = positive.map(|(_, rank)| rank).sum();
    if moved.len() == differences.len() && is_regular(&ranks) {
        return regular.two_sided(sum);
    }
    Sums::of_any(&ranks).two_sided(sum)
}

/// The rank-sum test's p-value; `regular` are the sums of as many ranks without ties.
fn rank_sum(base: &[f64], new: &[f64], regular: &Sums) -> f64 {
    let (fewer, others) = if base.len() < new.len() { (base, new) } else { (new, base) };
    let ranks = ranks(&[fewer, others].concat());
    let sum = ranks[..fewer.len()].iter().sum();
    if is_regular(&ranks) {
        return regular.two_sided(sum);
    }
    Sums::of_so_many(&ranks, fewer.len()).two_sided(sum)
}

/// Whether no two ranks are alike: counting sums again would count the same.
fn is_regular(ranks: &[usize]) -> bool {
    let mut ascending = ranks.to_vec();
    ascending.sort_unstable();
    ascending == regular(ranks.len())
}
