//! Two sets of exact values: did the path change, and by how much?
//!
//! A path is measured over several deliberately perturbed runs, the same ones on every kernel, so a
//! kernel has a *set* of exact values with frequencies. Page-table layout and timer phase choose
//! among a path's values, hence two functionally identical kernels can show them with different
//! frequencies, and now and then another member of one population; and an interrupt leaves a stray
//! value here and there. Against that stands that one added instruction moves a whole set by
//! exactly one. The rules, the first that holds decides:
//!
//! 1. **Clean shift.** Moved by d, the histograms agree in [`CLEAN_SHIFT_PERCENT`] of the samples
//!    (histogram intersection, Swain & Ballard, "Color Indexing", IJCV 7, 1991), and leave at most
//!    1/[`SHIFT_GAIN`] as much unexplained as unmoved: a change by d.
//! 2. **Moved set.** Moved by d, [`MOVED_SET_PERCENT`] of each side's samples are at values that
//!    the other showed, whatever their frequencies, and the rest is at most 1/[`SHIFT_GAIN`] of
//!    what it is unmoved: a change by d.
//! 3. **Apart.** All typical values of one lie above all of the other's: a change by the
//!    difference of the medians.
//! 4. **New mode.** [`NEW_MODE_PERCENT`] of new's samples are at a value that base never showed:
//!    mode-appeared. A mode that vanished is no alarm: base showed that both belong to the path.
//! 5. **Overlap.** [`OVERLAP_PERCENT`] of one side's samples are at values that the other showed
//!    too: same.
//! 6. **Interleaved.** A change by the difference of the medians.
//!
//! Swapping base and new swaps lower and higher, negates the difference and leaves same alone, with
//! one exception: mode-appeared is not symmetric, since a mode may vanish unremarked.
//! All arithmetic is on integers.

use std::cmp::{Ordering, Reverse};

use crate::Histogram;

/// A shift is clean when this much of the two histograms agrees, in percent; the complement of
/// what the typical set leaves to strays.
pub const CLEAN_SHIFT_PERCENT: u32 = 90;

/// A set has moved when this much of each side's samples finds its value on the other, in percent:
/// a kernel measured over six runs may show a mode in one of them that the other shows in none.
pub const MOVED_SET_PERCENT: u32 = 75;

/// A clean shift leaves at most one part in this many of the samples that disagree unmoved.
///
/// Two draws from one dense population disagree by chance, and by chance a little less when moved
/// by one; a real shift leaves strays only. Four parts those two: 12 neighbouring values moved by
/// one disagree in 8 % unmoved and with 2 % strays still pass.
pub const SHIFT_GAIN: u32 = 4;

/// A mode has appeared when this much of new's samples is where base never was, in percent: more
/// than one run of six, since layout alone may show another of a path's modes in one run.
pub const NEW_MODE_PERCENT: u32 = 20;

/// From this many typical values on a set is *diffuse*: a draw from a population with more values
/// than were seen. Values between its own are then expected, and values a little outside.
pub const DIFFUSE_VALUES: usize = 4;

/// How far outside a diffuse set a value is still expected, in units of the set's largest gap.
///
/// Gaps at the ends of a draw are as large as those inside it (the spacings of a uniform draw are
/// exchangeable: Pyke, "Spacings", J. R. Stat. Soc. B 27, 1965), so one gap is exceeded now and
/// then. In simulated pairs of draws of 8 runs from one population, one gap calls 6 to 9 in 100 a
/// new mode, two gaps about 2.
pub const REACH_GAPS: u64 = 2;

/// Sets overlap when this much of one side's samples is at values that the other showed too, in
/// percent. Either side will do, since a mode may vanish. Kernels that differ in the layout of
/// their code alone overlap by 80 to 100 % (`docs/evidence/tests.md`); sets that share no more
/// than a few values do so by chance.
pub const OVERLAP_PERCENT: u32 = 50;

/// How many of each side's most frequent values propose shifts; bounds the work on hostile input.
const SHIFT_PROPOSERS: usize = 16;

/// The verdict of two sets of exact values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Both are draws from one population.
    Same,
    /// New's set lies lower than base's.
    Lower,
    /// New's set lies higher than base's.
    Higher,
    /// New has a value that base never showed, often enough to count.
    ModeAppeared,
}

/// A verdict and the pair of values that carry it, in the samples' unit.
///
/// The difference of the path is `new - base`, 0 for [`Verdict::Same`]. For
/// [`Verdict::ModeAppeared`] `new` is the new mode and `base` the typical value nearest to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    pub verdict: Verdict,
    pub base: u64,
    pub new: u64,
}

/// Judges `new` against `base` by the rules above. None if either has no samples.
pub fn judge(base: &Histogram, new: &Histogram) -> Option<Judgement> {
    if let Some(shift) = whole_shift(base, new) {
        // No finite set is its own, moved. So what is alike overlaps, and no rule before that
        // holds; and of what is moved as a whole no other shift leaves as little.
        let value = base.mode()?;
        return Some(change(value, moved(value, shift)?));
    }
    by_the_rules(base, new)
}

/// By how much `new` is `base` moved, if that is all. None if either is empty.
fn whole_shift(base: &Histogram, new: &Histogram) -> Option<i128> {
    let mut pairs = base.iter().zip(new.iter());
    let ((first, _), (to, _)) = pairs.clone().next()?;
    let shift = difference(first, to);
    let alike = base.iter().len() == new.iter().len()
        && pairs.all(|((from, of_base), (to, of_new))| {
            difference(from, to) == shift && of_base == of_new
        });
    alike.then_some(shift)
}

fn by_the_rules(base: &Histogram, new: &Histogram) -> Option<Judgement> {
    let pair = Pair { base: Side::of(base)?, new: Side::of(new)? };
    pair.clean_shift()
        .or_else(|| pair.moved_set())
        .or_else(|| pair.apart())
        .or_else(|| pair.new_mode())
        .or_else(|| pair.overlap())
        .or_else(|| Some(pair.interleaved()))
}

/// One side of a comparison, with what several rules need of it.
struct Side<'a> {
    all: &'a Histogram,
    typical: Vec<u64>,
    /// Median of the typical samples, so that it is a typical value.
    median: u64,
    /// How far from a value seen here a value still counts as seen; 0 unless diffuse.
    reach: u64,
}

impl<'a> Side<'a> {
    fn of(all: &'a Histogram) -> Option<Self> {
        let typical = all.typical();
        let median = all.only(&typical).median()?;
        let reach = if typical.len() < DIFFUSE_VALUES { 0 } else { reach_of(&typical) };
        Some(Self { all, typical, median, reach })
    }

    fn total(&self) -> u128 {
        u128::from(self.all.total())
    }

    /// Samples outside the typical set.
    fn strays(&self) -> u64 {
        self.all.total() - self.all.only(&self.typical).total()
    }

    fn is_far(&self, value: u64) -> bool {
        self.all.distance(value).is_none_or(|distance| distance > self.reach)
    }

    fn nearest_typical(&self, value: u64) -> u64 {
        let nearest = self.typical.iter().copied().min_by_key(|&v| (v.abs_diff(value), v));
        nearest.unwrap_or(self.median)
    }

    fn lowest(&self) -> u64 {
        self.typical.first().copied().unwrap_or(self.median)
    }

    fn highest(&self) -> u64 {
        self.typical.last().copied().unwrap_or(self.median)
    }
}

struct Pair<'a> {
    base: Side<'a>,
    new: Side<'a>,
}

impl Pair<'_> {
    /// Rule 1. The best shift; of equally good ones the smallest, and none if it has no direction.
    fn clean_shift(&self) -> Option<Judgement> {
        let whole = self.whole();
        let unmoved = whole - self.agreement(0);
        if unmoved == 0 {
            return None;
        }
        // Of the best shift this much may disagree; others need not be looked at to the end.
        let clean = whole * u128::from(100 - CLEAN_SHIFT_PERCENT) / 100;
        let most = clean.min(unmoved / u128::from(SHIFT_GAIN));
        let (shift, moved) = self.best_shift(|shift| self.disagreeing(shift, most))?;
        let directed = self.agreement(-shift) < whole - moved;
        if directed { self.at_shift(shift) } else { None }
    }

    /// Rule 2. The best shift; of equally good ones the smallest.
    fn moved_set(&self) -> Option<Judgement> {
        let whole = self.whole();
        let unmoved = self.unshared(0, whole)?;
        if unmoved == 0 {
            return None;
        }
        let strange = whole * u128::from(100 - MOVED_SET_PERCENT) / 100;
        let most = strange.min(unmoved / u128::from(SHIFT_GAIN));
        let (shift, moved) = self.best_shift(|shift| self.unshared(shift, most))?;
        let directed = self.unshared(-shift, moved).is_none();
        if directed { self.at_shift(shift) } else { None }
    }

    /// The shift that leaves the least, and how much; of equally good ones the smallest.
    fn best_shift(&self, left: impl Fn(i128) -> Option<u128>) -> Option<(i128, u128)> {
        let shifts = self.proposed_shifts().into_iter();
        let possible = shifts.filter_map(|shift| Some((shift, left(shift)?)));
        possible.max_by_key(|&(shift, left)| (Reverse(left), Reverse(shift.unsigned_abs())))
    }

    /// How much of each side's samples is at values that the other does not show, base moved by
    /// `shift`: the larger of both, out of [`Self::whole`]. None if it is more than `most`.
    fn unshared(&self, shift: i128, most: u128) -> Option<u128> {
        let (mut base, mut new) = (self.base.all.iter().peekable(), self.new.all.iter().peekable());
        let (mut only_base, mut only_new) = (0, 0);
        loop {
            let order = match (base.peek(), new.peek()) {
                (Some(&(base, _)), Some(&(new, _))) => {
                    (i128::from(base) + shift).cmp(&i128::from(new))
                }
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Some(only_base.max(only_new)),
            };
            let of_base = base.next_if(|_| order.is_le());
            let of_new = new.next_if(|_| order.is_ge());
            match (of_base, of_new) {
                (Some((_, count)), None) => only_base += u128::from(count) * self.new.total(),
                (None, Some((_, count))) => only_new += u128::from(count) * self.base.total(),
                _ => {}
            }
            if only_base.max(only_new) > most {
                return None;
            }
        }
    }

    /// Rule 3.
    fn apart(&self) -> Option<Judgement> {
        let apart =
            self.base.highest() < self.new.lowest() || self.new.highest() < self.base.lowest();
        apart.then(|| change(self.base.median, self.new.median))
    }

    /// Rule 4. Either one new value is frequent enough by itself, or many (a slow path that is
    /// itself diffuse) are together, above the strays that base has too.
    fn new_mode(&self) -> Option<Judgement> {
        let far: Vec<(u64, u64)> =
            self.new.all.iter().filter(|&(value, _)| self.base.is_far(value)).collect();
        let &(mode, count) = far.iter().max_by_key(|&&(value, count)| (count, Reverse(value)))?;
        let together: u64 = far.iter().map(|&(_, count)| count).sum();

        let (base_total, new_total) = (self.base.total(), self.new.total());
        let bound = new_total * u128::from(NEW_MODE_PERCENT);
        let alone = u128::from(count) * 100 >= bound;
        let many = u128::from(together) * 100 * base_total
            >= bound * base_total + u128::from(self.base.strays()) * 100 * new_total;
        (alone || many).then(|| Judgement {
            verdict: Verdict::ModeAppeared,
            base: self.base.nearest_typical(mode),
            new: mode,
        })
    }

    /// Rule 5.
    fn overlap(&self) -> Option<Judgement> {
        let known = |side: &Side<'_>, other: &Side<'_>| {
            let counts = side.all.iter().filter(|&(value, _)| other.all.count(value) > 0);
            let shared: u128 = counts.map(|(_, count)| u128::from(count)).sum();
            shared * 100 >= side.total() * u128::from(OVERLAP_PERCENT)
        };
        let overlap = known(&self.base, &self.new) || known(&self.new, &self.base);
        if overlap { self.at_shift(0) } else { None }
    }

    /// Rule 6.
    fn interleaved(&self) -> Judgement {
        change(self.base.median, self.new.median)
    }

    /// The shifts other than 0 that bring a frequent value of base onto one of new, the medians
    /// included.
    fn proposed_shifts(&self) -> Vec<i128> {
        let (base, new) = (self.base.all.by_frequency(), self.new.all.by_frequency());
        let mut shifts = vec![difference(self.base.median, self.new.median)];
        for &from in base.iter().take(SHIFT_PROPOSERS) {
            shifts.extend(new.iter().take(SHIFT_PROPOSERS).map(|&to| difference(from, to)));
        }
        shifts.sort_unstable();
        shifts.dedup();
        shifts.retain(|&shift| shift != 0);
        shifts
    }

    /// The product of both totals: what full agreement comes to, so that shares stay integers.
    fn whole(&self) -> u128 {
        self.base.total() * self.new.total()
    }

    /// Histogram intersection with base moved by `shift`, out of [`Self::whole`].
    fn agreement(&self, shift: i128) -> u128 {
        self.base.all.iter().map(|value| self.agreement_at(value, shift)).sum()
    }

    /// What [`Self::agreement`] leaves. None if it is more than `most`, which it is at once with
    /// most of the proposed shifts.
    fn disagreeing(&self, shift: i128, most: u128) -> Option<u128> {
        let mut left = 0;
        for (value, count) in self.base.all.iter() {
            left += u128::from(count) * self.new.total();
            left -= self.agreement_at((value, count), shift);
            if left > most {
                return None;
            }
        }
        Some(left)
    }

    /// The part in [`Self::agreement`] of one value and its count.
    fn agreement_at(&self, (value, count): (u64, u64), shift: i128) -> u128 {
        let moved = moved(value, shift).map_or(0, |v| self.new.all.count(v));
        let here = u128::from(count) * self.new.total();
        here.min(u128::from(moved) * self.base.total())
    }

    /// The judgement that base moved by `shift`, measured at the value most frequent on both sides.
    fn at_shift(&self, shift: i128) -> Option<Judgement> {
        let values = self.base.all.iter();
        let most = values.max_by_key(|&it| (self.agreement_at(it, shift), Reverse(it.0)));
        let (base, _) = most?;
        Some(change(base, moved(base, shift)?))
    }
}

/// The judgement that a path went from `base` to `new`.
fn change(base: u64, new: u64) -> Judgement {
    let verdict = match new.cmp(&base) {
        Ordering::Less => Verdict::Lower,
        Ordering::Equal => Verdict::Same,
        Ordering::Greater => Verdict::Higher,
    };
    Judgement { verdict, base, new }
}

fn difference(from: u64, to: u64) -> i128 {
    i128::from(to) - i128::from(from)
}

fn moved(value: u64, shift: i128) -> Option<u64> {
    u64::try_from(i128::from(value) + shift).ok()
}

/// [`REACH_GAPS`] of the largest gap between neighbours, but no more than the whole span.
fn reach_of(ascending: &[u64]) -> u64 {
    let gap = ascending.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let span = ascending.last().zip(ascending.first()).map_or(0, |(last, first)| last - first);
    span.min(gap.saturating_mul(REACH_GAPS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_alike_or_only_moved_is_judged_without_the_rules_as_by_them(
            samples in proptest::collection::vec((0_u64..60, 1_u64..9), 0..30),
            shift in 0_u64..80,
        ) {
            let set: Histogram = samples.iter().copied().collect();
            let moved = samples.into_iter().map(|(value, count)| (value + shift, count)).collect();
            prop_assert_eq!(judge(&set, &moved), by_the_rules(&set, &moved));
            prop_assert_eq!(judge(&moved, &set), by_the_rules(&moved, &set));
        }
    }
}
