//! A histogram of exact values.
//!
//! Under an instruction-counting clock a path has a handful of exact values, not a bell curve, so
//! nothing is binned or averaged: every answer given here is a value that was really sampled.

use std::cmp::Reverse;

/// How much of the samples the typical set covers, in percent.
///
/// The rest is left to windows that an interrupt fell into. A timer tick comes about every
/// 4 000 000 instructions (HZ=250 on a 1 GHz guest clock) and the longest windows take 120 000, so
/// ticks hit at most 3 % of them, 12 % at HZ=1000: 90 % keeps the path and loses the ticks.
pub const TYPICAL_PERCENT: u32 = 90;

/// Exact values and how often each was sampled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Ascending by value, each of them once, and none with a count of 0. Sets are small and are
    /// gone through far more often than looked up.
    counts: Vec<(u64, u64)>,
    total: u64,
}

impl Histogram {
    /// How many samples there are in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// How often `value` was sampled; 0 if never.
    pub fn count(&self, value: u64) -> u64 {
        let found = self.counts.binary_search_by_key(&value, |&(value, _)| value);
        found.map_or(0, |at| self.counts[at].1)
    }

    /// The values and their counts, ascending by value.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = (u64, u64)> + ExactSizeIterator + Clone + '_ {
        self.counts.iter().copied()
    }

    /// The value that stands for all samples wherever one number is shown: the lower median, which
    /// is the sample in the middle, or the lower of the two. A value that most samples have is this
    /// one. None without samples.
    ///
    /// The most frequent value does not stand for them: of six different samples each is the most
    /// frequent, so that a rule among equals would decide.
    pub fn median(&self) -> Option<u64> {
        let middle = self.total.div_ceil(2);
        let mut below = 0;
        self.iter().find_map(|(value, count)| {
            below += count;
            (below >= middle && count > 0).then_some(value)
        })
    }

    /// The most frequent value; of equally frequent ones the lowest. None without samples. It
    /// stands for nothing but two sets of which one is the other, moved.
    pub(crate) fn mode(&self) -> Option<u64> {
        self.iter().max_by_key(|&(value, count)| (count, Reverse(value))).map(|(value, _)| value)
    }

    /// The values, the most frequent first; of equally frequent ones the lowest first.
    pub fn by_frequency(&self) -> Vec<u64> {
        self.ranked().into_iter().map(|(value, _)| value).collect()
    }

    /// The values with their counts, in the order of [`Self::by_frequency`].
    fn ranked(&self) -> Vec<(u64, u64)> {
        let mut ranked = self.counts.clone();
        ranked.sort_unstable_by_key(|&(value, count)| (Reverse(count), value));
        ranked
    }

    /// The typical set, ascending: the fewest most frequent values that together cover
    /// [`TYPICAL_PERCENT`] of the samples. Of equally frequent values the lowest are taken.
    pub fn typical(&self) -> Vec<u64> {
        let wanted = u128::from(self.total) * u128::from(TYPICAL_PERCENT);
        let mut covered = 0_u128;
        let mut typical: Vec<u64> = self
            .ranked()
            .into_iter()
            .take_while(|&(_, count)| {
                let short = covered * 100 < wanted;
                covered += u128::from(count);
                short
            })
            .map(|(value, _)| value)
            .collect();
        typical.sort_unstable();
        typical
    }

    /// The samples at `values` alone.
    pub(crate) fn only(&self, values: &[u64]) -> Self {
        values.iter().map(|&value| (value, self.count(value))).collect()
    }

    /// How far `value` is from the nearest value sampled. None without samples.
    pub(crate) fn distance(&self, value: u64) -> Option<u64> {
        let (below, above) = self.counts.split_at(self.counts.partition_point(|it| it.0 < value));
        let near = below.last().into_iter().chain(above.first());
        near.map(|&(other, _)| other.abs_diff(value)).min()
    }
}

impl FromIterator<u64> for Histogram {
    fn from_iter<I: IntoIterator<Item = u64>>(samples: I) -> Self {
        samples.into_iter().map(|sample| (sample, 1)).collect()
    }
}

/// Values, each with how often it was sampled; one may come several times.
impl FromIterator<(u64, u64)> for Histogram {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(samples: I) -> Self {
        let mut counts: Vec<(u64, u64)> =
            samples.into_iter().filter(|(_, count)| *count > 0).collect();
        counts.sort_unstable_by_key(|&(value, _)| value);
        counts.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            kept.1 += if same { later.1 } else { 0 };
            same
        });
        let total = counts.iter().map(|&(_, count)| count).sum();
        Self { counts, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(samples: &[u64]) -> Histogram {
        samples.iter().copied().collect()
    }

    #[test]
    fn counted_values_are_as_many_samples() {
        let counted: Histogram = [(7, 2), (5, 0), (9, 1), (7, 1)].into_iter().collect();
        assert_eq!(counted, histogram(&[7, 9, 7, 7]));
        assert_eq!([(5, 0)].into_iter().collect::<Histogram>(), histogram(&[]));
    }

    #[test]
    fn without_samples_there_is_no_answer() {
        let empty = histogram(&[]);
        assert!(empty.is_empty());
        assert_eq!((empty.median(), empty.distance(1)), (None, None));
        assert!(empty.typical().is_empty());
    }

    #[test]
    fn one_sample_is_everything() {
        let one = histogram(&[330]);
        assert_eq!((one.total(), one.median()), (1, Some(330)));
        assert_eq!(one.typical(), [330]);
    }

    #[test]
    fn of_different_samples_the_one_in_the_middle_stands_for_all_and_not_the_lowest() {
        assert_eq!(histogram(&[7, 5, 8, 6, 9]).median(), Some(7));
        assert_eq!(histogram(&[7, 5, 7, 5, 9]).median(), Some(7));
        assert_eq!(histogram(&[5, 1, 5, 9, 5]).median(), Some(5), "what most samples have");
    }

    #[test]
    fn the_median_of_an_even_number_is_the_lower_of_the_middle_two() {
        assert_eq!(histogram(&[1, 2, 3, 4]).median(), Some(2));
        assert_eq!(histogram(&[1, 2, 3]).median(), Some(2));
    }

    #[test]
    fn a_stray_value_is_not_typical() {
        let mut samples = vec![330; 99];
        samples.push(2711);
        assert_eq!(histogram(&samples).typical(), [330]);
    }

    #[test]
    fn nine_tenths_are_enough_and_less_are_not() {
        let nine_of_ten = [vec![330; 9], vec![331]].concat();
        assert_eq!(histogram(&nine_of_ten).typical(), [330]);
        let eight_of_nine = [vec![330; 8], vec![331]].concat();
        assert_eq!(histogram(&eight_of_nine).typical(), [330, 331]);
    }

    #[test]
    fn the_distance_is_to_the_nearest_value() {
        let two = histogram(&[100, 200]);
        assert_eq!(
            [90, 100, 149, 151, 300].map(|v| two.distance(v)),
            [10, 0, 49, 49, 100].map(Some)
        );
    }
}
