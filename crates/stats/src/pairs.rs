//! Two series of runs that were disturbed alike: did what is executed in them change, by how much?
//!
//! Run for run the two sides had the same addresses, the same phase of the tick and as much memory
//! taken, and in a run each execution had its counterpart. So two executions with the same run and
//! number are one experiment on two kernels, and their *difference* is what the kernel changed:
//! the principle of paired comparisons (Student, "The Probable Error of a Mean", Biometrika 6,
//! 1908). A change of what is executed shows in each pair, by about as much. A mode that layout
//! moves is a step: it is up in some pairs and down in others, and most pairs have none. A run has
//! one execution, as of a program's row, or several, as of a path. The rules, the first that holds
//! decides:
//!
//! 1. **Most pairs.** One difference is that of half of all pairs, in all runs but one at most, and
//!    is no step: hardly any pair has none, or the opposite one ([`STRAY_PART`]).
//! 2. **One change.** What a run's pairs typically differ by (their median) has the same sign in
//!    all runs; and lies nearer together from run to run than to 0; or it is in no run less than
//!    half of the usual, and in no run less than one part in `CHANGE_PART` of the cost: one run
//!    that differs by far more does not hide a change that all have.
//! 3. **Common difference.** One difference is that of [`COMMON_PERCENT`] of all pairs, comes in
//!    all runs (if these have several executions, in all but one, which is not the opposite of the
//!    others), and no difference, and the opposite one, come at most 1/[`SHIFT_GAIN`] as often.
//! 4. **One direction.** Runs have several executions each, and hardly any pair differs in the
//!    other direction or not at all: a change by the median, though pairs scatter. In no run is it
//!    less than one part in `STEP_PART` of the cost: an object that the kernel finds at another
//!    place in its slab moves a whole run by some instructions.
//! 5. **A part.** The same as 2 of a quantile of the executions, from a fifth to four fifths of
//!    them: a part of the executions costs more in every run, or less.
//! 6. **New mode.** The sets show one ([`judge`]), and it lies farther from base's values than one
//!    part in [`MODE_PART`], and than these from each other.
//!
//! Higher by 1 to 4 is higher. A part that costs more is a new mode, also where 1 to 4 show less.
//! Lower by any of the five is lower. Otherwise 6 decides, or it is the same. But for 6, swapping
//! base and new swaps lower and higher; a part that costs less is no new mode.
//!
//! The values shown are those of one pair that has the difference, so that their difference is the
//! one that is judged. Of several a pair in which base has the value that stands for it wherever it
//! is shown alone ([`Histogram::median`]); then one that the caller prefers; then the one in which
//! base is nearest to that value; then the earliest.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use crate::judge::SHIFT_GAIN;
use crate::{Histogram, Judgement, Verdict, judge};

/// A difference is no step if at most one pair in this many has none, or the opposite one: where
/// layout alone moved a mode of `process.fork-exit`, a third of the pairs had none; where each
/// system call had one instruction more, no pair.
pub const STRAY_PART: usize = 20;

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

/// Scatter in one direction is a change if it is larger in each run than one part in this many of
/// what is executed. Of a TCP round trip of 28,453 instructions, buffers at other places of their
/// slabs moved whole runs by 2 or 4, and on a kernel of twenty all six in one direction.
pub(crate) const STEP_PART: u64 = 1000;

const GAIN: usize = SHIFT_GAIN as usize;

/// The quantiles of a run's executions that are compared, in tenths. A tick falls into up to a
/// fifth of the executions.
const TENTHS: std::ops::RangeInclusive<usize> = 2..=8;

/// The verdict of two series of runs, with the pair of executions that stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairJudgement {
    /// The verdict, and two values. They are of one execution on either side, if there is a place.
    pub judgement: Judgement,
    /// The execution that the values are of; None if there is not one that both are of.
    pub place: Option<Place>,
    /// The least and the largest of what pairs of runs typically differ by.
    pub range: [i128; 2],
    /// How many pairs have the difference of the values shown.
    pub agreeing: usize,
    /// Out of so many pairs.
    pub of: usize,
}

impl PairJudgement {
    /// Whether runs differ less from each other than each differs from no change.
    pub fn is_even(&self) -> bool {
        is_even(self.range)
    }
}

/// An execution that both sides have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its run, from 0.
    pub run: usize,
    /// Its number in the run, from 0; None if both values are medians of a run, which has another
    /// number of executions on either side.
    pub execution: Option<usize>,
}

/// An execution on both sides.
#[derive(Clone, Copy)]
struct Difference {
    place: Place,
    base: u64,
    new: u64,
}

/// Judges the runs of `new` against those of `base`, each with what its executions cost, in their
/// order. Runs without a counterpart, or without executions, don't count. None if no pair is left.
pub fn judge_pairs<R: AsRef<[u64]>>(base: &[R], new: &[R]) -> Option<PairJudgement> {
    judge_pairs_by(base, new, |_| 0)
}

/// As [`judge_pairs`]; of the pairs that have the difference, one of the highest `rank` is shown.
pub fn judge_pairs_by<R: AsRef<[u64]>>(
    base: &[R],
    new: &[R],
    rank: impl Fn(Place) -> usize,
) -> Option<PairJudgement> {
    let both = base.iter().zip(new).enumerate();
    let runs =
        both.map(|(number, (base, new))| Run { number, base: base.as_ref(), new: new.as_ref() });
    let runs = runs.filter(Run::has_executions).collect();
    let pairs = Pairs::of(runs, set(base).median()?, &rank)?;
    let show = |verdict, change| pairs.show(verdict, change);
    let change = pairs.change();
    Some(match change {
        Some(change) if change.order() == Ordering::Greater => show(Verdict::Higher, change),
        change => {
            let less =
                || change.or_else(|| pairs.part(Ordering::Less).map(|it| pairs.typical_of(it)));
            match (pairs.part(Ordering::Greater), less()) {
                (Some(part), _) => pairs.show_pair(Verdict::ModeAppeared, pairs.appeared(part)),
                (None, Some(change)) => show(Verdict::Lower, change),
                (None, None) => match new_mode(base, new) {
                    Some(judgement) => pairs.of_sets(judgement),
                    None => show(Verdict::Same, pairs.usual()),
                },
            }
        }
    })
}

/// A run of either side.
struct Run<'a> {
    number: usize,
    base: &'a [u64],
    new: &'a [u64],
}

impl Run<'_> {
    fn has_executions(&self) -> bool {
        !self.base.is_empty() && !self.new.is_empty()
    }

    /// Each execution beside its counterpart; none if there are not as many on both sides.
    fn executions(&self) -> impl Iterator<Item = Difference> {
        let as_many = self.base.len() == self.new.len();
        let both = self.base.iter().zip(self.new).enumerate().filter(move |_| as_many);
        let run = self.number;
        both.map(move |(execution, (&base, &new))| Difference {
            place: Place { run, execution: Some(execution) },
            base,
            new,
        })
    }

    fn typical(&self) -> Difference {
        middle(self.executions().collect()).unwrap_or_else(|| self.quantile(5))
    }

    /// The executions of either side that so many tenths of its executions do not exceed.
    fn quantile(&self, tenths: usize) -> Difference {
        let of = |run: &[u64]| {
            let mut sorted = run.to_vec();
            sorted.sort_unstable();
            sorted[(sorted.len() * tenths).div_ceil(10).saturating_sub(1)]
        };
        let place = Place { run: self.number, execution: None };
        Difference { place, base: of(self.base), new: of(self.new) }
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

/// All runs that both sides have, and the pairs of their executions.
struct Pairs<'a> {
    runs: Vec<Run<'a>>,
    /// Of each run what its executions typically differ by.
    typical: Vec<Difference>,
    range: [i128; 2],
    /// The executions of all runs that have as many on both sides, in their order.
    executions: Vec<Difference>,
    /// The difference that is most frequent among them, of equally frequent ones the nearest to 0;
    /// 0 if there is none.
    most: i128,
    /// The value that stands for base.
    base: u64,
    /// How much a pair stands for those with its difference.
    rank: &'a dyn Fn(Place) -> usize,
}

impl<'a> Pairs<'a> {
    /// None if there are no runs.
    fn of(runs: Vec<Run<'a>>, base: u64, rank: &'a dyn Fn(Place) -> usize) -> Option<Self> {
        let typical: Vec<Difference> = runs.iter().map(Run::typical).collect();
        let range = range(&typical)?;
        let executions: Vec<Difference> = runs.iter().flat_map(Run::executions).collect();
        let mut counts: BTreeMap<i128, usize> = BTreeMap::new();
        for one in &executions {
            *counts.entry(one.by()).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|&(by, count)| (count, Reverse(by.abs())));
        let most = most.map_or(0, |(by, _)| by);
        Some(Self { runs, typical, range, executions, most, base, rank })
    }

    /// How many pairs have this difference.
    fn count(&self, by: i128) -> usize {
        self.executions.iter().filter(|one| one.by() == by).count()
    }

    /// How many pairs do not differ in this direction.
    fn against(&self, order: Ordering) -> usize {
        self.executions.iter().filter(|one| one.order() != order).count()
    }

    /// Whether a pair has the most frequent difference in all runs; or in all but one of several,
    /// if runs have several executions.
    fn is_in_all_runs_but_one(&self) -> bool {
        let has = |run: &&Run<'_>| run.executions().any(|one| one.by() == self.most);
        let (with, all) = (self.runs.iter().filter(has).count(), self.runs.len());
        with == all || (self.have_several() && 2 * with > all && with + 1 >= all)
    }

    /// Whether runs have several executions, so that one difference can be that of most.
    fn have_several(&self) -> bool {
        self.executions.len() >= 2 * self.runs.len()
    }

    /// The change that the pairs have, if they have one.
    fn change(&self) -> Option<Difference> {
        self.of_most_pairs()
            .or_else(|| one_change(&self.typical))
            .or_else(|| self.common())
            .or_else(|| self.one_direction())
    }

    /// Rule 1.
    fn of_most_pairs(&self) -> Option<Difference> {
        let (count, all) = (self.count(self.most), self.executions.len());
        let holds = self.most != 0
            && self.have_several()
            && 2 * count >= all
            && self.is_in_all_runs_but_one()
            && (self.count(0) + self.count(-self.most)) * STRAY_PART <= all;
        if holds { self.with(self.most) } else { None }
    }

    /// Rule 3.
    fn common(&self) -> Option<Difference> {
        let (count, all) = (self.count(self.most), self.executions.len());
        let rare = |by| self.count(by) * GAIN <= count;
        let holds = self.most != 0
            && self.is_in_all_runs_but_one()
            && count * 100 >= all * COMMON_PERCENT
            && rare(0)
            && rare(-self.most)
            && !self.has_opposite_run();
        if holds { self.with(self.most) } else { None }
    }

    /// Whether a run with several executions has the opposite difference in most of them: what
    /// moved whole runs in both directions is a step, such as of an object that lies in the first
    /// page of its slab in a half of the runs.
    fn has_opposite_run(&self) -> bool {
        let is_opposite = |run: &Run<'_>| {
            let opposite = run.executions().filter(|one| one.by() == -self.most).count();
            2 * opposite > run.executions().count()
        };
        self.have_several() && self.runs.iter().any(is_opposite)
    }

    /// Rule 4.
    fn one_direction(&self) -> Option<Difference> {
        let middle = middle(self.executions.clone())?;
        let holds = self.have_several()
            && is_part(smallest(self.range), STEP_PART, middle)
            && smallest(self.range) > 0
            && self.against(middle.order()) * STRAY_PART <= self.executions.len();
        if holds && middle.by() != 0 { Some(middle) } else { None }
    }

    /// Rule 5: the quantiles that differ in this direction.
    fn part(&self, order: Ordering) -> Option<Difference> {
        let part = |tenths| {
            let of_runs: Vec<Difference> =
                self.runs.iter().map(|run| run.quantile(tenths)).collect();
            one_change(&of_runs)
        };
        TENTHS.filter_map(part).find(|it| it.order() == order)
    }

    /// A typical one of the pairs that differ in the direction of `part`.
    fn typical_of(&self, part: Difference) -> Difference {
        let those = self.executions.iter().copied().filter(|it| it.order() == part.order());
        middle(those.collect()).unwrap_or(part)
    }

    /// The pair in which what `part` of the executions costs more appears: a higher value that base
    /// never showed, if there is one, and of these one with about the difference of the part.
    fn appeared(&self, part: Difference) -> Difference {
        let known: BTreeSet<u64> = self.executions.iter().map(|one| one.base).collect();
        let rises = |one: &Difference| one.order() == Ordering::Greater;
        let distance = |one: &Difference| (known.contains(&one.new), (one.by() - part.by()).abs());
        let higher = self.executions.iter().copied().filter(rises);
        let nearest = higher.map(|one| distance(&one)).min();
        self.best(|one| rises(one) && Some(distance(one)) == nearest).unwrap_or(part)
    }

    /// What stands for pairs without a change: one that does not differ, if there is one.
    fn usual(&self) -> Difference {
        let none = if self.have_several() { self.with(0) } else { None };
        none.or_else(|| middle(self.typical.clone())).unwrap_or(self.typical[0])
    }

    /// The pair that stands for all with this difference.
    fn with(&self, by: i128) -> Option<Difference> {
        self.best(|one| one.by() == by)
    }

    /// The pair that stands for all that `holds` is true of.
    fn best(&self, holds: impl Fn(&Difference) -> bool) -> Option<Difference> {
        let rank = |one: &Difference| {
            let apart = one.base.abs_diff(self.base);
            (apart == 0, (self.rank)(one.place), Reverse(apart), Reverse(one.place))
        };
        self.executions.iter().copied().filter(holds).max_by_key(rank)
    }

    /// The verdict with the pair that stands for `change`.
    fn show(&self, verdict: Verdict, change: Difference) -> PairJudgement {
        self.show_pair(verdict, self.with(change.by()).unwrap_or(change))
    }

    fn show_pair(&self, verdict: Verdict, pair: Difference) -> PairJudgement {
        let Difference { place, base, new } = pair;
        PairJudgement {
            judgement: Judgement { verdict, base, new },
            place: Some(place),
            range: self.range,
            agreeing: self.count(pair.by()),
            of: self.executions.len(),
        }
    }

    /// The sets' verdict with a pair in which new has its value, if one has.
    fn of_sets(&self, judgement: Judgement) -> PairJudgement {
        if let Some(pair) = self.best(|one| one.new == judgement.new) {
            return self.show_pair(judgement.verdict, pair);
        }
        let of = self.executions.len();
        PairJudgement { judgement, place: None, range: self.range, agreeing: 0, of }
    }
}

/// The one in the middle; of two there the one nearer to 0, then the one of lower costs, so that
/// swapped sides have the same.
fn middle(mut differences: Vec<Difference>) -> Option<Difference> {
    differences.sort_by_key(|one| (one.by(), one.base));
    let last = differences.len().checked_sub(1)?;
    let two = [differences[last / 2], differences[last.div_ceil(2)]];
    let costs = |one: &Difference| u128::from(one.base) + u128::from(one.new);
    two.into_iter().min_by_key(|one| (one.by().abs(), costs(one), one.place))
}

fn range(differences: &[Difference]) -> Option<[i128; 2]> {
    let all = || differences.iter().map(|one| one.by());
    Some([all().min()?, all().max()?])
}

/// Rule 2, of one difference for each run: the middle one, if they are one change.
fn one_change(differences: &[Difference]) -> Option<Difference> {
    let (range, middle) = (range(differences)?, middle(differences.to_vec())?);
    let (smallest, usual) = (smallest(range), middle.by().abs());
    let is_large = 2 * smallest >= usual && is_part(smallest, CHANGE_PART, middle);
    (is_even(range) || (smallest > 0 && is_large)).then_some(middle)
}

/// Whether what runs differ by has one sign, and lies nearer together than to 0.
fn is_even(range: [i128; 2]) -> bool {
    range[1] - range[0] < smallest(range)
}

/// How much all runs differ by at least, in one direction; 0 if they differ in both.
fn smallest([least, most]: [i128; 2]) -> i128 {
    let one_sign = least.signum() == most.signum();
    if one_sign { least.abs().min(most.abs()) } else { 0 }
}

/// Whether this many is at least one part in `part` of what the pair costs.
fn is_part(many: i128, part: u64, pair: Difference) -> bool {
    many * i128::from(part) >= i128::from(pair.base.max(pair.new))
}

/// The sets' new mode, if it is one for pairs too.
fn new_mode<R: AsRef<[u64]>>(base: &[R], new: &[R]) -> Option<Judgement> {
    let (base, new) = (set(base), set(new));
    let judgement = judge(&base, &new).filter(|it| it.verdict == Verdict::ModeAppeared)?;
    let typical = base.typical();
    let span = typical.last().zip(typical.first()).map_or(0, |(last, first)| last - first);
    let far = judgement.new.abs_diff(judgement.base) > span.max(judgement.base / MODE_PART);
    far.then_some(judgement)
}

/// The executions of all runs.
fn set<R: AsRef<[u64]>>(runs: &[R]) -> Histogram {
    runs.iter().flat_map(|run| run.as_ref().iter().copied()).collect()
}
