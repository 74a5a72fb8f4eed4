//! Slower, faster, equal or undecidable: the verdict on a path whose sides were timed.
//!
//! A session compares base's kernel A with new's B, and A with a copy of itself, A′, in the same
//! way (the *null*). All values are natural logarithms: of the ratio B to A of a pair, or of the
//! level of one process or boot. The first rule that holds decides:
//!
//! 1. **Too few.** With so many replicates no outcome could be significant, or the null has no
//!    interval.
//! 2. **Null shifted.** The null's interval lies farther from 0 than one part in [`FLAT_PART`] of
//!    the margin: what the session shows of one kernel it may show of two.
//! 3. **Slower, faster.** The difference is significant: its p-value, adjusted for the paths of the
//!    family by Holm's procedure, is at most alpha. And it is larger than the null's reach, which
//!    is the null's estimate without sign and half of its interval.
//! 4. **Null wide.** The null's interval is wider than the margin.
//! 5. **Equal.** The difference is shown to be less than the margin, on either side: its interval
//!    lies within both (two one-sided tests: Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987).
//! 6. **Null wide** again, if the difference is significant but within the null's reach.
//! 7. **Interval wide.**
//!
//! All intervals have the confidence [`CONFIDENCE`] for one path. So there are two kinds of errors.
//! A session calls any path slower or faster, though none is, with a probability of alpha at most.
//! A path whose difference is the margin is called equal with one of 2.5 % at most, and less often
//! the larger the difference. An adjustment of that for the family too would let a single disturbed
//! replicate of twenty decide.

use super::sums::{Sums, regular};
use super::{CONFIDENCE, Finite, Interval, Location, holm};

/// The null is flat if its interval contains 0, or misses it by less than one part in this many of
/// the margin.
pub const FLAT_PART: f64 = 10.0;

/// What a verdict rests on.
///
/// By default alpha is 0.001, with which 20 pairs are enough for a family of 524 paths. In the
/// simulations of `tests/time_simulation.rs`, of 1,000 sessions of 100 paths that do not differ 0
/// to 3 found something, by the kind of noise; with 0.01 it was 3 to 9. What a larger alpha gains
/// is small against what more replicates do. If one pair in ten is disturbed ten times as much as
/// the others, a path that is slower by 0.5 % was found in 61 % of sessions with 20 pairs, in 90 %
/// with 30, and always with 90; with 0.01 in 71 and 96 %, and always.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// The sides are equal if their difference is shown to be less than this share of base's time,
    /// and not to be one: 0.02 is 2 %.
    pub margin: f64,
    /// The probability that any path of the family is called slower or faster though none is.
    pub alpha: f64,
    /// How many paths are compared, if more than are judged at once.
    pub family: usize,
}

impl Default for Rules {
    fn default() -> Self {
        Self { margin: 0.02, alpha: 0.001, family: 1 }
    }
}

impl Rules {
    /// The bound of equal differences, as a logarithm: the same for slower and faster.
    fn bound(&self) -> f64 {
        self.margin.ln_1p()
    }

    /// The probability that one path's interval may miss its difference.
    fn share(&self) -> f64 {
        self.alpha / count(self.family.max(1))
    }

    /// The fewest pairs of which any outcome is significant.
    pub fn fewest_pairs(&self) -> usize {
        fewest_pairs(self.share())
    }

    /// The fewest pairs with which one disturbed pair, however far off and in whatever direction,
    /// does not hide a difference that all others show: 29 for 100 paths by default.
    pub fn robust_pairs(&self) -> usize {
        let share = self.share();
        // The largest rank has the other sign.
        let is_enough =
            |pairs: &usize| Sums::of_any(&regular(*pairs)).two_sided(2 * pairs) <= share;
        (self.fewest_pairs()..LIMIT).find(is_enough).unwrap_or(usize::MAX)
    }

    /// The fewest replicates of each of two sides of which any outcome is significant.
    pub fn fewest_a_side(&self) -> usize {
        fewest_a_side(self.share())
    }
}

/// The fewest pairs of which 2 outcomes of 2^n, the outermost ones, are at most this share.
fn fewest_pairs(share: f64) -> usize {
    let mut outermost = 2.0;
    let enough = (1..LIMIT).find(|_| {
        outermost *= 0.5;
        share > 0.0 && outermost <= share
    });
    enough.unwrap_or(usize::MAX)
}

/// The same of replicates a side: 2 of the choices of n of 2n.
fn fewest_a_side(share: f64) -> usize {
    let mut choices = 1.0;
    let enough = (1..LIMIT).find(|&side| {
        choices *= count(2 * (2 * side - 1)) / count(side);
        share > 0.0 && 2.0 / choices <= share
    });
    enough.unwrap_or(usize::MAX)
}

/// More replicates than any share above 0 needs.
const LIMIT: usize = 1080;

/// Why there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// There are too few replicates for any verdict.
    TooFew,
    /// Base's copy differs from base: what was measured is not the kernels' difference alone.
    NullShifted,
    /// Base's copy may differ from base by too much.
    NullWide,
    /// The difference may be 0, or more than the margin.
    IntervalWide,
}

/// The verdict on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// New takes longer than base.
    Slower,
    /// New takes less time than base.
    Faster,
    /// The difference is less than the margin.
    Equal,
    /// None of the three is shown.
    Undecidable(Cause),
}

/// A verdict and what carries it. Differences are logarithms of the ratio of new to base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    pub verdict: Verdict,
    /// Hodges and Lehmann's estimate of the difference. None without replicates.
    pub estimate: Option<f64>,
    /// Where the difference is, with [`CONFIDENCE`] for this path alone. None of too few.
    pub interval: Option<Interval>,
    /// The p-value of no difference, adjusted for the family; two-sided.
    pub p: f64,
    /// What one kernel differs from itself by in this session, at most. None of too few.
    pub reach: Option<f64>,
    /// The replicates that were used: pairs, or those of the side that has fewer.
    pub replicates: usize,
    /// The values that were left out because they were not finite, those of the null included.
    pub ignored: usize,
    /// How many more replicates, of each side and of the null, would probably decide, since
    /// intervals shrink with the root of their number. None if it is decided, or no number would.
    pub more: Option<usize>,
}

/// The replicates of a path whose sides were timed in pairs.
#[derive(Debug, Clone, Copy)]
pub struct PathPairs<'a> {
    /// ln(B / A) of each pair.
    pub pairs: &'a [f64],
    /// ln(A′ / A) of each pair, of the same session.
    pub null: &'a [f64],
}

/// The replicates of a path whose sides were timed apart.
#[derive(Debug, Clone, Copy)]
pub struct PathLevels<'a> {
    /// ln A of each process or boot.
    pub base: &'a [f64],
    /// ln B of each process or boot.
    pub new: &'a [f64],
    /// ln A and ln A′ of each, of the same session; where A has no copy, two halves of it.
    pub null: [&'a [f64]; 2],
}

/// Judges the paths of a family, in their order. A family of fewer than `paths` is one of as many.
pub fn judge_family(paths: &[PathPairs<'_>], rules: &Rules) -> Vec<Judgement> {
    let rules = Rules { family: rules.family.max(paths.len()), ..*rules };
    let paths: Vec<_> = paths.iter().map(|path| Evidence::of_pairs(path, &rules)).collect();
    judge_all(&paths, &rules)
}

/// As [`judge_family`], of sides without pairs.
pub fn judge_unpaired_family(paths: &[PathLevels<'_>], rules: &Rules) -> Vec<Judgement> {
    let rules = Rules { family: rules.family.max(paths.len()), ..*rules };
    let paths: Vec<_> = paths.iter().map(|path| Evidence::of_levels(path, &rules)).collect();
    judge_all(&paths, &rules)
}

fn judge_all(paths: &[Evidence], rules: &Rules) -> Vec<Judgement> {
    let p: Vec<f64> = paths.iter().map(Evidence::p).collect();
    let adjusted = holm(&p, rules.family);
    paths.iter().zip(adjusted).map(|(path, p)| path.judgement(p, rules)).collect()
}

/// A comparison, with what the rules need of it.
struct Compared {
    location: Option<Location>,
    /// Pairs, or replicates of the side that has fewer.
    replicates: usize,
    ignored: usize,
}

impl Compared {
    fn of_pairs(pairs: &[f64]) -> Self {
        let pairs = Finite::of(pairs);
        Self {
            location: Location::of_pairs(&pairs),
            replicates: pairs.values().len(),
            ignored: pairs.ignored(),
        }
    }

    fn of_sides(base: &[f64], new: &[f64]) -> Self {
        let (base, new) = (Finite::of(base), Finite::of(new));
        Self {
            location: Location::of_sides(&base, &new),
            replicates: base.values().len().min(new.values().len()),
            ignored: base.ignored() + new.ignored(),
        }
    }

    fn estimate(&self) -> Option<f64> {
        self.location.as_ref().map(Location::estimate)
    }

    fn interval(&self, confidence: f64) -> Option<Interval> {
        self.location.as_ref()?.interval(confidence)
    }
}

/// What was measured of a path.
struct Evidence {
    difference: Compared,
    null: Compared,
    /// The fewest replicates that can show a difference.
    fewest: usize,
    /// The fewest of which the null has an interval.
    fewest_of_null: usize,
}

impl Evidence {
    fn of_pairs(path: &PathPairs<'_>, rules: &Rules) -> Self {
        Self {
            difference: Compared::of_pairs(path.pairs),
            null: Compared::of_pairs(path.null),
            fewest: rules.fewest_pairs(),
            fewest_of_null: fewest_pairs(1.0 - CONFIDENCE),
        }
    }

    fn of_levels(path: &PathLevels<'_>, rules: &Rules) -> Self {
        Self {
            difference: Compared::of_sides(path.base, path.new),
            null: Compared::of_sides(path.null[0], path.null[1]),
            fewest: rules.fewest_a_side(),
            fewest_of_null: fewest_a_side(1.0 - CONFIDENCE),
        }
    }

    fn p(&self) -> f64 {
        self.difference.location.as_ref().map_or(1.0, Location::p)
    }

    fn judgement(&self, adjusted: f64, rules: &Rules) -> Judgement {
        let p = adjusted.min(1.0);
        let shown = Shown::of(self, rules);
        let (verdict, more) = match &shown {
            Some(shown) => shown.verdict(p <= rules.alpha, rules),
            None => (Verdict::Undecidable(Cause::TooFew), self.missing()),
        };
        Judgement {
            verdict,
            estimate: self.difference.estimate(),
            interval: self.difference.interval(CONFIDENCE),
            p,
            reach: shown.map(|shown| shown.reach()),
            replicates: self.difference.replicates,
            ignored: self.difference.ignored + self.null.ignored,
            more,
        }
    }

    /// How many replicates are missing for any verdict.
    fn missing(&self) -> Option<usize> {
        let of_difference = self.fewest.saturating_sub(self.difference.replicates);
        let of_null = self.fewest_of_null.saturating_sub(self.null.replicates);
        (self.fewest < usize::MAX).then(|| of_difference.max(of_null).max(1))
    }
}

/// An estimate and its interval.
struct Estimated {
    centre: f64,
    interval: Interval,
    replicates: usize,
}

impl Estimated {
    fn of(compared: &Compared) -> Option<Self> {
        Some(Self {
            centre: compared.estimate()?,
            interval: compared.interval(CONFIDENCE)?,
            replicates: compared.replicates,
        })
    }

    fn half(&self) -> f64 {
        self.interval.width() / 2.0
    }

    /// How many more replicates make `half` of an interval's width shrink to `goal`; None if no
    /// number does.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of replicates; what is larger than any is the largest"
    )]
    fn more(&self, half: f64, goal: f64) -> Option<usize> {
        let needed = (count(self.replicates) * (half / goal).powi(2)).ceil() as usize;
        (goal > 0.0).then(|| needed.saturating_sub(self.replicates).max(1))
    }
}

/// What replicates show if there are enough.
struct Shown {
    difference: Estimated,
    /// Half of the interval that contains all differences of the family at once with a probability
    /// of 1 - alpha (Bonferroni): an estimate as large is about significant.
    significant_half: f64,
    null: Estimated,
}

impl Shown {
    /// None if there are too few.
    fn of(evidence: &Evidence, rules: &Rules) -> Option<Self> {
        let enough = evidence.difference.replicates >= evidence.fewest;
        let simultaneous = evidence.difference.interval(1.0 - rules.share())?;
        let difference = Estimated::of(&evidence.difference)?;
        let null = Estimated::of(&evidence.null)?;
        let significant_half = simultaneous.width() / 2.0;
        enough.then_some(Self { difference, significant_half, null })
    }

    /// What one kernel differs from itself by, at most.
    fn reach(&self) -> f64 {
        self.null.centre.abs() + self.null.half()
    }

    /// The rules from the second on, and how many more replicates would decide.
    fn verdict(&self, significant: bool, rules: &Rules) -> (Verdict, Option<usize>) {
        let bound = rules.bound();
        let (centre, null) = (self.difference.centre, &self.null);
        let undecidable = |cause, more| (Verdict::Undecidable(cause), more);
        if null.interval.distance_from_zero() > bound / FLAT_PART {
            undecidable(Cause::NullShifted, None)
        } else if significant && centre.abs() > self.reach() {
            (if centre > 0.0 { Verdict::Slower } else { Verdict::Faster }, None)
        } else if null.interval.width() > bound {
            undecidable(Cause::NullWide, null.more(null.half(), bound / 2.0))
        } else if self.difference.interval.is_within(bound) {
            (Verdict::Equal, None)
        } else if significant {
            undecidable(Cause::NullWide, null.more(null.half(), centre.abs() - null.centre.abs()))
        } else {
            undecidable(Cause::IntervalWide, self.more(bound))
        }
    }

    /// How many more replicates would show that the difference is none, or is one.
    fn more(&self, bound: f64) -> Option<usize> {
        let centre = self.difference.centre.abs();
        let equal = self.difference.more(self.difference.half(), bound - centre);
        let different = self.difference.more(self.significant_half, centre);
        [equal, different].into_iter().flatten().min()
    }
}

#[allow(clippy::cast_precision_loss, reason = "a number of paths or replicates")]
fn count(number: usize) -> f64 {
    number as f64
}
