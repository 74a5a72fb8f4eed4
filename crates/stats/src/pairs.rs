//! Two series of runs that were disturbed alike: did what is executed in them change, by how much?
//!
//! Run for run the two sides had the same addresses, the same phase of the tick and as many pages
//! taken, and in a run each execution had its counterpart. So a change of what is executed shows in
//! each pair of runs, and by about as much. What half used slabs and page counters move is up in
//! one run and down in another, as between kernels that differ in layout only. A run has one
//! execution or several. The rules:
//!
//! 1. **One change.** What the executions of a pair of runs typically differ by (the median, each
//!    execution against its counterpart) has the same sign in all pairs; and lies no farther apart
//!    from pair to pair than its median from 0; or it is in no pair less than half of that, and
//!    in no pair less than one part in `CHANGE_PART` of it: one pair that differs by far more
//!    does not hide a change that all have.
//! 2. **Common difference.** One difference is that of [`COMMON_PERCENT`] of all executions, comes
//!    in every pair of runs, and no difference, and the opposite one, come at most
//!    1/[`SHIFT_GAIN`] as often.
//! 3. **A part.** The same as 1 of a quantile of the executions, from a fifth to four fifths of
//!    them: a part of the executions costs more in every pair, or less.
//! 4. **New mode.** The sets show one ([`judge`]), and it lies farther from base's values than one
//!    part in [`MODE_PART`], and than these from each other.
//!
//! Higher by 1 or 2 is higher. A part that costs more is a new mode, also where 1 or 2 show less.
//! Lower by any of the three is lower. Otherwise 4 decides, or it is the same. But for 4, swapping
//! base and new swaps lower and higher; a part that costs less is no new mode.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::judge::SHIFT_GAIN;
use crate::{Histogram, Judgement, Verdict, judge};

/// The fewest pairs of runs that a verdict can rest on where two kernels are compared. Where layout
/// alone decides, all differences have one sign by chance: in 1 case of 2 if there are two pairs,
/// in 1 of 16 if there are five (docs/guide/own-programs.md has what was measured).
pub const LEAST_PAIRS: usize = 5;

/// How much of the executions a common difference is, in percent. One instruction more in one
/// system call is that of 27 to 83 % of them, where the call's cost depends on the kernel's memory.
pub const COMMON_PERCENT: usize = 25;

/// A new mode is one if it lies farther from what base shows than one part in this many: layout
/// alone moves half a percent in two runs of six.
pub const MODE_PART: u64 = 20;

/// A change that pairs have unevenly is one if it is larger in each than one part in this many of
/// what is executed: layout alone moved `exit_group` of a shell by 20 to 946 of 230,000
/// instructions, always in one direction.
pub(crate) const CHANGE_PART: u64 = 50;

const GAIN: usize = SHIFT_GAIN as usize;

/// The quantiles of a run's executions that are compared, in tenths. A tick falls into up to a
/// fifth of the executions.
const TENTHS: std::ops::RangeInclusive<usize> = 2..=8;

/// The verdict of two series of runs, with the pair of executions that is typical of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairJudgement {
    /// The verdict, and two values. They are of one execution on either side, but for a new mode.
    pub judgement: Judgement,
    /// The pair of runs, from 0, that the values are of. None of a new mode, which is one of sets.
    pub run: Option<usize>,
    /// The least and the largest of what pairs of runs typically differ by.
    pub range: [i128; 2],
}

/// An execution on both sides.
#[derive(Clone, Copy)]
struct Difference {
    run: usize,
    base: u64,
    new: u64,
}

/// Judges the runs of `new` against those of `base`, each with what its executions cost, in their
/// order. Runs without a counterpart, or without executions, don't count. None if no pair is left.
pub fn judge_pairs<R: AsRef<[u64]>>(base: &[R], new: &[R]) -> Option<PairJudgement> {
    let both = base.iter().zip(new).enumerate();
    let pairs = both.map(|(run, (base, new))| Pair { run, base: base.as_ref(), new: new.as_ref() });
    let pairs: Vec<Pair<'_>> = pairs.filter(Pair::has_executions).collect();
    let typical: Vec<Difference> = pairs.iter().filter_map(Pair::typical).collect();
    let (usual, range) = (middle(typical.clone())?, range(&typical)?);
    let change = one_change(&typical).or_else(|| common(&pairs));
    let part =
        |order| TENTHS.filter_map(|tenth| part(&pairs, tenth)).find(|it| it.order() == order);
    let of = |verdict, Difference { run, base, new }: Difference| PairJudgement {
        judgement: Judgement { verdict, base, new },
        run: Some(run),
        range,
    };
    Some(match change {
        Some(change) if change.order() == Ordering::Greater => of(Verdict::Higher, change),
        change => match (part(Ordering::Greater), change.or_else(|| part(Ordering::Less))) {
            (Some(part), _) => of(Verdict::ModeAppeared, part),
            (None, Some(change)) => of(Verdict::Lower, change),
            (None, None) => match new_mode(base, new) {
                Some(judgement) => PairJudgement { judgement, run: None, range },
                None => of(Verdict::Same, usual),
            },
        },
    })
}

/// A run of either side.
struct Pair<'a> {
    run: usize,
    base: &'a [u64],
    new: &'a [u64],
}

impl Pair<'_> {
    fn has_executions(&self) -> bool {
        !self.base.is_empty() && !self.new.is_empty()
    }

    /// Each execution beside its counterpart; None if there are not as many on both sides.
    fn executions(&self) -> Option<impl Iterator<Item = Difference>> {
        let both = self.base.iter().zip(self.new);
        let run = self.run;
        (self.base.len() == self.new.len())
            .then(|| both.map(move |(&base, &new)| Difference { run, base, new }))
    }

    fn typical(&self) -> Option<Difference> {
        match self.executions() {
            Some(executions) => middle(executions.collect()),
            None => Some(self.quantile(5)),
        }
    }

    /// The executions of either side that so many tenths of its executions do not exceed.
    fn quantile(&self, tenths: usize) -> Difference {
        let of = |run: &[u64]| {
            let mut sorted = run.to_vec();
            sorted.sort_unstable();
            sorted[(sorted.len() * tenths).div_ceil(10).saturating_sub(1)]
        };
        Difference { run: self.run, base: of(self.base), new: of(self.new) }
    }
}

impl Difference {
    fn by(self) -> i128 {
        i128::from(self.new) - i128::from(self.base)
    }

    fn order(self) -> Ordering {
        self.by().cmp(&0)
    }
}

/// The one in the middle; of two there the one nearer to 0, so that swapped sides have the same.
fn middle(mut differences: Vec<Difference>) -> Option<Difference> {
    differences.sort_by_key(|one| (one.by(), one.base));
    let last = differences.len().checked_sub(1)?;
    let two = [differences[last / 2], differences[last.div_ceil(2)]];
    two.into_iter().min_by_key(|one| (one.by().abs(), one.run))
}

fn range(differences: &[Difference]) -> Option<[i128; 2]> {
    let all = || differences.iter().map(|one| one.by());
    Some([all().min()?, all().max()?])
}

/// The middle one of these differences, one for each pair of runs, if they are one change.
fn one_change(differences: &[Difference]) -> Option<Difference> {
    let ([least, most], middle) = (range(differences)?, middle(differences.to_vec())?);
    let one_sign = least.signum() == most.signum() && least != 0;
    let (smallest, usual) = (least.abs().min(most.abs()), middle.by().abs());
    let uneven = 2 * smallest >= usual
        && smallest * i128::from(CHANGE_PART) >= i128::from(middle.base.max(middle.new));
    (one_sign && (most - least <= usual || uneven)).then_some(middle)
}

/// An execution with the difference that is common to the pairs, if one is.
fn common(pairs: &[Pair<'_>]) -> Option<Difference> {
    let mut all: BTreeMap<i128, Vec<Difference>> = BTreeMap::new();
    for pair in pairs {
        for one in pair.executions()? {
            all.entry(one.by()).or_default().push(one);
        }
    }
    let executions: usize = all.values().map(Vec::len).sum();
    let times = |difference: i128| all.get(&difference).map_or(0, Vec::len);
    let (&most, those) =
        all.iter().max_by_key(|(difference, those)| (those.len(), -difference.abs()))?;
    let everywhere = pairs.iter().all(|pair| those.iter().any(|one| one.run == pair.run));
    let rare = |difference| times(difference) * GAIN <= those.len();
    let is_common = most != 0
        && everywhere
        && those.len() * 100 >= executions * COMMON_PERCENT
        && rare(0)
        && rare(-most);
    is_common.then(|| middle(those.clone()))?
}

/// What so many tenths of the executions do not exceed, if it changed.
fn part(pairs: &[Pair<'_>], tenths: usize) -> Option<Difference> {
    let quantiles: Vec<Difference> = pairs.iter().map(|pair| pair.quantile(tenths)).collect();
    one_change(&quantiles)
}

/// The sets' new mode, if it is one for pairs too.
fn new_mode<R: AsRef<[u64]>>(base: &[R], new: &[R]) -> Option<Judgement> {
    let set = |runs: &[R]| runs.iter().flat_map(|run| run.as_ref().iter().copied()).collect();
    let (base, new): (Histogram, Histogram) = (set(base), set(new));
    let judgement = judge(&base, &new).filter(|it| it.verdict == Verdict::ModeAppeared)?;
    let typical = base.typical();
    let span = typical.last().zip(typical.first()).map_or(0, |(last, first)| last - first);
    let far = judgement.new.abs_diff(judgement.base) > span.max(judgement.base / MODE_PART);
    far.then_some(judgement)
}
