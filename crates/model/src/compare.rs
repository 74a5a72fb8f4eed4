//! Two measurements to one comparison.
//!
//! This decides which rows there are and what happens to paths that were not measured;
//! [`pathmeter_stats::judge`] decides the verdict of two sets of samples. Whether the two may be
//! compared at all is the caller's question to [`crate::Configuration::differences`].

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use pathmeter_stats::{self as stats, Histogram, Judgement};

use crate::{
    Comparison, ComparisonSchema, Configuration, ConfigurationDifference, DifferenceRange,
    EventComparison, Measurement, PathComparison, PathResult, SideInfo, Status, Subject, Summary,
    Unit, Verdict,
    events::{differing, differing_in_pairs, moved},
    function::function_changes,
    program::measured::with_absent_rows,
    tail::TailVerdict,
};

/// The smallest change that counts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Threshold {
    /// In percent of base. Smaller changes keep their difference and are judged the same; 0 lets
    /// every change count.
    pub percent: f64,
}

/// Compares `new` against `base`, path by path: base's paths in base's order, then those that only
/// new has.
pub fn compare(base: &Measurement, new: &Measurement, threshold: Threshold) -> Comparison {
    let one_qemu = base.configuration.qemu == new.configuration.qemu;
    let judges = Judges::Sets;
    let (of_base, of_new) = (with_absent_rows(base, new), with_absent_rows(new, base));
    let paths = compare_paths((&of_base, &of_new), judges, one_qemu, threshold);
    Comparison {
        schema: ComparisonSchema::V1,
        base: SideInfo::from(base),
        new: SideInfo::from(new),
        summary: Summary::of(&paths),
        paths,
        configuration_differences: differences(base, new),
        budget: None,
        gate: None,
        options: None,
    }
}

/// Compares one path of two results; every change counts. `one_qemu` is whether one version of QEMU
/// measured both. None only if neither has the path.
pub fn compare_path(
    base: Option<&PathResult>,
    new: Option<&PathResult>,
    one_qemu: bool,
) -> Option<PathComparison> {
    Row { base, new, judges: Judges::Sets, one_qemu }.compare(Threshold::default())
}

/// What samples are judged as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judges {
    /// As sets; but the regions of probes in pairs, where there are enough runs.
    Sets,
    /// Run by run, in pairs.
    Pairs,
}

/// The paths of either side, in base's order; then those that only new has. `one_qemu` is whether
/// one version of QEMU measured both.
pub(crate) fn compare_paths(
    (base, new): (&[PathResult], &[PathResult]),
    judges: Judges,
    one_qemu: bool,
    threshold: Threshold,
) -> Vec<PathComparison> {
    let of_base: HashSet<&str> = base.iter().map(|path| path.path.as_str()).collect();
    let of_new: HashMap<&str, &PathResult> =
        new.iter().map(|path| (path.path.as_str(), path)).collect();
    let shared = base.iter().map(|b| (Some(b), of_new.get(&*b.path).copied()));
    let only_new = new.iter().filter(|n| !of_base.contains(&*n.path));
    let pairs = shared.chain(only_new.map(|n| (None, Some(n))));
    let rows = pairs.map(|(base, new)| Row { base, new, judges, one_qemu });
    rows.filter_map(|row| row.compare(threshold)).collect()
}

/// In what else than the kernel the two were measured differently; empty means that they can be
/// compared.
pub fn differences(base: &Measurement, new: &Measurement) -> Vec<ConfigurationDifference> {
    configuration_differences(
        (&base.subject, &base.configuration),
        (&new.subject, &new.configuration),
    )
}

/// In what else than the kernel two subjects were measured differently.
///
/// The lab kernel knows no words of Linux's and is always given its own, so beside a Linux, as its
/// floor, that is no difference.
pub fn configuration_differences(
    base: (&Subject, &Configuration),
    new: (&Subject, &Configuration),
) -> Vec<ConfigurationDifference> {
    let is_floor = base.0.kind != new.0.kind;
    let mut differences = base.1.differences(new.1);
    differences.retain(|difference| !(is_floor && difference.field == "command_line"));
    differences
}

/// One path on the sides that have it; at least one does.
#[derive(Clone, Copy)]
struct Row<'a> {
    base: Option<&'a PathResult>,
    new: Option<&'a PathResult>,
    judges: Judges,
    /// Whether one version of QEMU measured both.
    one_qemu: bool,
}

impl Row<'_> {
    fn compare(self, threshold: Threshold) -> Option<PathComparison> {
        let Self { base, new, .. } = self;
        let [base_set, new_set] = [base, new].map(|path| path.map(PathResult::histogram));
        let values = |set: &Option<Histogram>| set.as_ref().map_or(0, |set| set.typical().len());
        let blank = PathComparison {
            path: base.or(new)?.path.clone(),
            unit: base.or(new)?.unit,
            base: value(base),
            new: value(new),
            base_at_least: at_least(base, value(base)),
            new_at_least: at_least(new, value(new)),
            difference: None,
            percent: None,
            verdict: Verdict::Same,
            reason: None,
            base_values: values(&base_set),
            new_values: values(&new_set),
            events: Vec::new(),
            moved: None,
            pairs: None,
            work: base.or(new)?.work,
            functions: Vec::new(),
        };
        if let Some((verdict, reason)) = self.obstacle() {
            return Some(PathComparison { verdict, reason: Some(reason), ..blank });
        }
        let pairs = self.judged_in_pairs();
        let blank =
            PathComparison { pairs: pairs.map(|it| DifferenceRange::of(it.range)), ..blank };
        let judgement =
            pairs.map(|it| it.judgement).or_else(|| stats::judge(&base_set?, &new_set?));
        let blank = with_events(blank, base?, new?, self.one_qemu);
        let Some(judgement) = judgement else { return Some(blank) };
        let shown = [judgement.base, judgement.new];
        let judged = |judgement: Judgement, verdict| {
            let (base_at_least, new_at_least) =
                (at_least(base, Some(judgement.base)), at_least(new, Some(judgement.new)));
            let sides = PathComparison { base_at_least, new_at_least, ..blank.clone() };
            judged(sides, judgement, verdict, threshold)
        };
        let row = judged(judgement, judgement.verdict.into());
        let Some(tail) = TailVerdict::of(base?, new?, shown).filter(|it| it.leads(&row)) else {
            return Some(row);
        };
        let pair = Judgement { base: tail.base, new: tail.new, ..judgement };
        let of_tail = judged(pair, tail.verdict);
        let of_tail = PathComparison { unit: tail.unit, ..of_tail };
        Some(tail.explained(of_tail, &row))
    }

    /// The judgement run by run, if these samples are judged so.
    fn judged_in_pairs(self) -> Option<stats::PairJudgement> {
        let (base, new) = (self.base?.runs(), self.new?.runs());
        let enough = base.len().min(new.len()) >= stats::LEAST_PAIRS;
        let in_pairs = match self.judges {
            Judges::Pairs => true,
            Judges::Sets => enough && (self.base?.is_region() || self.base?.work.is_some()),
        };
        in_pairs.then(|| stats::judge_pairs(&base, &new))?
    }

    /// What keeps the two from being judged: a failure before anything else, since it shows that a
    /// kernel does not do what it should.
    fn obstacle(self) -> Option<(Verdict, String)> {
        let (failed, unsupported) = (self.with(Status::Failed), self.with(Status::Unsupported));
        if let Some(reason) = failed {
            return Some((Verdict::Broken, reason));
        }
        if let Some(reason) = unsupported {
            return Some((Verdict::Unsupported, reason));
        }
        let (base, new) = (self.base?.unit, self.new?.unit);
        let reason = || format!("units differ: {base} in base, {new} in new");
        (base != new).then(|| (Verdict::Unsupported, reason()))
    }

    /// Which sides have `status`, and why; None if neither has.
    fn with(self, status: Status) -> Option<String> {
        match (trouble(self.base, status), trouble(self.new, status)) {
            (Some(base), Some(new)) if base == new => Some(format!("both: {base}")),
            (Some(base), Some(new)) => Some(format!("base: {base}; new: {new}")),
            (Some(base), None) => Some(format!("base: {base}")),
            (None, Some(new)) => Some(format!("new: {new}")),
            (None, None) => None,
        }
    }
}

/// Why the path has `status`, if it has. One that a side lacks, or that has no samples though it is
/// not a check, is unsupported there.
fn trouble(path: Option<&PathResult>, status: Status) -> Option<&str> {
    let (found, reason) = match path {
        None => (Status::Unsupported, "not measured"),
        Some(path) if path.status == Status::Ok && path.unit == Unit::Check => return None,
        Some(path) if path.status == Status::Ok && path.samples.is_empty() => {
            (Status::Unsupported, "no samples")
        }
        Some(path) => (path.status, path.reason.as_deref().unwrap_or("no reason given")),
    };
    (found == status).then_some(reason)
}

fn with_events(
    blank: PathComparison,
    base: &PathResult,
    new: &PathResult,
    one_qemu: bool,
) -> PathComparison {
    let (Some(of_base), Some(of_new)) = (&base.events, &new.events) else { return blank };
    if blank.work.is_some() {
        let sides = ((of_base, &base.samples_per_run[..]), (of_new, &new.samples_per_run[..]));
        let events = differing_in_pairs(sides.0, sides.1, one_qemu);
        let functions = if base.functions.is_empty() || new.functions.is_empty() {
            Vec::new()
        } else {
            function_changes(&base.functions, &new.functions)
        };
        return PathComparison { events, functions, ..blank };
    }
    let (events, moved) = (differing(of_base, of_new, one_qemu), moved(of_base, of_new));
    PathComparison { events, moved, ..blank }
}

fn judged(
    blank: PathComparison,
    judgement: Judgement,
    verdict: Verdict,
    threshold: Threshold,
) -> PathComparison {
    let difference = i128::from(judgement.new) - i128::from(judgement.base);
    let percent = percent_of(difference, judgement.base);
    let small = percent.is_some_and(|percent| percent.abs() < threshold.percent);
    let open = open_side(&blank, &judgement, small);
    let verdict = if small { Verdict::Same } else { verdict };
    let costly = |event: &EventComparison| match blank.work {
        Some(_) => event.moves_cost(),
        None => event.counts(),
    };
    let costly = blank.events.iter().any(costly);
    PathComparison {
        base: Some(judgement.base),
        new: Some(judgement.new),
        difference: i64::try_from(difference).ok(),
        percent,
        verdict: match verdict {
            _ if open.is_some() => Verdict::Unsupported,
            Verdict::Same if costly => Verdict::EventsDiffer,
            verdict => verdict,
        },
        reason: open.map(|side| {
            format!("{side} is a lower bound: its value may be higher, so there is no verdict")
        }),
        ..blank
    }
}

/// A side whose value is a lower bound where a higher one would give another verdict.
fn open_side(sides: &PathComparison, judgement: &Judgement, small: bool) -> Option<&'static str> {
    let (base, new) = (sides.base_at_least, sides.new_at_least);
    match judgement.new.cmp(&judgement.base) {
        // The same was seen of both.
        Ordering::Equal if base && new => None,
        Ordering::Greater if !base && !small => None,
        Ordering::Less if !new && !small => None,
        _ if base => Some("base"),
        _ => new.then_some("new"),
    }
}

/// For reading only: counts below 2^53 are exact in it, and verdicts rest on the integers.
#[allow(clippy::cast_precision_loss, reason = "a percentage is shown to a few digits")]
pub(crate) fn percent_of(difference: i128, base: u64) -> Option<f64> {
    (base != 0).then(|| difference as f64 * 100.0 / base as f64)
}

fn value(path: Option<&PathResult>) -> Option<u64> {
    path?.estimate.as_ref().map(|estimate| estimate.value)
}

fn at_least(path: Option<&PathResult>, value: Option<u64>) -> bool {
    path.zip(value).is_some_and(|(path, value)| path.is_lower_bound(value))
}
