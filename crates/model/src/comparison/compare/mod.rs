//! Two measurements to one comparison.
//!
//! This decides which rows there are and what happens to paths that were not measured;
//! [`pathmeter_stats`] decides the verdict of two sets of samples, or of pairs of runs. Whether the
//! two may be compared at all is the caller's question to [`crate::Configuration::differences`].

mod processes;
mod row;
mod work;

use std::collections::{HashMap, HashSet};

use self::row::{Compared, Row, Rules};
use crate::{
    Comparison, ComparisonSchema, Configuration, ConfigurationDifference, Measurement,
    PathComparison, PathResult, ProgramComparison, SideInfo, Subject, Summary,
};

/// The smallest change that counts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Threshold {
    /// In percent of base. Smaller changes keep their difference and are judged the same; 0 lets
    /// every change count.
    pub percent: f64,
}

/// Compares `new` against `base`, row by row: base's in base's order, then those that only new has.
/// Which verdicts can be believed, with fewer than [`LEAST_LATER_RUNS`](crate::LEAST_LATER_RUNS)
/// later runs of a program, is the caller's question.
pub fn compare(base: &Measurement, new: &Measurement, threshold: Threshold) -> Comparison {
    let rules = Rules {
        alike: MeasuredAlike::of(&base.configuration, &new.configuration),
        benchmarks: base.benchmarks().is_some() && new.benchmarks().is_some(),
        functions: base.has_functions() && new.has_functions(),
        function_events: base.has_function_events() && new.has_function_events(),
        threshold,
    };
    let [of_base, of_new] = work::sides(base, new);
    let mut rows = compare_paths(&of_base, &of_new, rules);
    work::totals(&mut rows);
    let paths: Vec<PathComparison> = rows.into_iter().map(|row| row.comparison).collect();
    let processes = compared_processes(base, new, rules);
    Comparison {
        schema: ComparisonSchema::V1,
        base: SideInfo::from(base),
        new: SideInfo::from(new),
        threshold_percent: Some(threshold.percent).filter(|percent| *percent > 0.0),
        summary: Summary::of(&paths),
        paths,
        program: ProgramComparison::of(base, new),
        processes,
        configuration_differences: differences(base, new),
        budget: None,
        gate: None,
        causes: None,
        options: None,
        compilers: None,
    }
}

/// Compares all own work of the processes of two programs; none if one of them has none.
fn compared_processes(base: &Measurement, new: &Measurement, rules: Rules) -> Vec<PathComparison> {
    let Some([base, new]) = processes::as_rows(base, new) else { return Vec::new() };
    let [base, new] = work::sides(&base, &new);
    compare_paths(&base, &new, rules).into_iter().map(|row| row.comparison).collect()
}

/// What two results of a path have in common, which decides how they are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredAlike {
    /// Whether one version of QEMU measured both: what two count differently is not compared.
    pub one_qemu: bool,
    /// Whether the same agent perturbed both: then the same run and number is the same experiment,
    /// and they can be judged in pairs.
    pub one_agent: bool,
}

impl MeasuredAlike {
    /// What two configurations have in common.
    pub fn of(base: &Configuration, new: &Configuration) -> Self {
        Self { one_qemu: base.qemu == new.qemu, one_agent: base.agent_sha256 == new.agent_sha256 }
    }
}

/// Compares one path of two results; every change counts. None only if neither has the path.
pub fn compare_path(
    base: Option<&PathResult>,
    new: Option<&PathResult>,
    alike: MeasuredAlike,
) -> Option<PathComparison> {
    let both = |has: fn(&PathResult) -> bool| base.is_some_and(has) && new.is_some_and(has);
    let rules = Rules {
        alike,
        benchmarks: false,
        functions: both(|row| !row.functions.is_empty()),
        function_events: both(PathResult::has_function_events),
        threshold: Threshold::default(),
    };
    Row { base, new, rules }.compare().map(|row| row.comparison)
}

/// Compares each path of either side: those of base in its order, then those that only new has.
fn compare_paths<'a>(
    base: &'a [PathResult],
    new: &'a [PathResult],
    rules: Rules,
) -> Vec<Compared<'a>> {
    let of_base: HashSet<&str> = base.iter().map(|path| path.path.as_str()).collect();
    let of_new: HashMap<&str, &PathResult> =
        new.iter().map(|path| (path.path.as_str(), path)).collect();
    let shared = base.iter().map(|b| (Some(b), of_new.get(&*b.path).copied()));
    let only_new = new.iter().filter(|n| !of_base.contains(&*n.path));
    let pairs = shared.chain(only_new.map(|n| (None, Some(n))));
    pairs.filter_map(|(base, new)| Row { base, new, rules }.compare()).collect()
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
