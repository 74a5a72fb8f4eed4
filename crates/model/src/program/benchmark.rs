//! The paths of a benchmark: the kernel's part of an iteration, and the program's own code.
//!
//! Two results of one program that differ in nothing but how many iterations it executes differ by
//! what the iterations cost: start, setup and report are in both. A framework that executes a
//! single iteration has one result, in which the iteration is a region.

use std::collections::BTreeMap;

use pathmeter_trace::{Event, RowKind};

use crate::program::work::Counts;
use crate::result::path_result::REGION_PREFIX;
use crate::{Check, Measurement, PathEvents, PathResult, Unit};

/// After a benchmark's name in the path that is the kernel's part of it.
pub const KERNEL_PART: &str = ": kernel";
/// After a benchmark's name in the path that is the program's own code.
pub const OWN_CODE: &str = ": user code";

/// A part of a benchmark.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Kernel,
    Own,
}

impl Part {
    const BOTH: [Self; 2] = [Self::Kernel, Self::Own];

    fn path(self, benchmark: &str) -> String {
        let part = if self == Self::Kernel { KERNEL_PART } else { OWN_CODE };
        format!("{benchmark}{part}")
    }

    /// The event that its instructions are.
    fn retired(self) -> Event {
        if self == Self::Kernel { Event::Kernel } else { Event::User }
    }

    fn has(self, kind: RowKind) -> bool {
        kind.is_own_work() && (kind == RowKind::User) == (self == Self::Own)
    }
}

/// The paths of a benchmark that was not measured, and why.
pub fn failed_benchmark(name: &str, reason: &str) -> [PathResult; 2] {
    Part::BOTH.map(|part| PathResult::failed(&part.path(name), Unit::Instructions, reason))
}

/// What an iteration costs: in each later run the difference of the two results, divided by the
/// `iterations` that `more` executes beside those of `fewer`, and rounded. Of the rows only own
/// work counts. A difference below 0 counts as 0, and a check tells how many there were.
pub fn benchmark_slope(
    name: &str,
    [fewer, more]: [&Measurement; 2],
    iterations: u64,
) -> [PathResult; 2] {
    let counted: Vec<Event> = more.paths.iter().flat_map(PathResult::further_events).collect();
    Part::BOTH.map(|part| {
        let (of_fewer, of_more) = (runs(fewer, part), runs(more, part));
        let sides: Vec<_> = of_fewer.iter().zip(&of_more).skip(1).collect();
        if sides.is_empty() {
            let reason = "there was no later run";
            return PathResult::failed(&part.path(name), Unit::Instructions, reason);
        }
        let costs = sides.iter().map(|(fewer, more)| less(more, fewer, iterations));
        let costs: Vec<Counts> = costs.collect();
        let samples: Vec<Vec<u64>> = costs.iter().map(|run| vec![run.instructions]).collect();
        let below = sides.iter().filter(|(fewer, more)| more.instructions < fewer.instructions);
        let mut checks = vec![Check::new("iterations", &iterations)];
        if part == Part::Kernel {
            checks.push(calls([fewer, more], iterations));
        }
        checks.extend(negative(below.count(), sides.len()));
        let path = PathResult::ok(&part.path(name), Unit::Instructions, &samples, checks);
        path.counting(events(part, &costs, &counted))
    })
}

/// What the only iteration of a run costs, which is the longest execution of the region `region`
/// in each later run. None if the result has no such region, or its program never executed it.
pub fn benchmark_once(name: &str, result: &Measurement, region: &str) -> Option<[PathResult; 2]> {
    let region = result.paths.iter().find(|path| {
        path.path.strip_prefix(REGION_PREFIX) == Some(region) && !path.samples.is_empty()
    })?;
    let events = region.events.as_ref()?;
    let mut longest = Vec::new();
    let mut at = 0;
    for run in region.runs() {
        let of_run = run.iter().enumerate().max_by_key(|(_, sample)| **sample);
        longest.extend(of_run.map(|(position, _)| at + position));
        at += run.len();
    }
    Some(Part::BOTH.map(|part| {
        let number = |position: &usize| vec![events.number(part.retired(), *position)];
        let samples: Vec<Vec<u64>> = longest.iter().map(number).collect();
        let checks = vec![Check::new("iterations", &"1, the first of its process")];
        PathResult::ok(&part.path(name), Unit::Instructions, &samples, checks)
    }))
}

/// What the rows of a part cost in each run, the first one included.
fn runs(result: &Measurement, part: Part) -> Vec<Counts> {
    let mut runs = Vec::new();
    for row in result.paths.iter().filter(|row| row.work_kind().is_some_and(|it| part.has(it))) {
        let counts = row.counts();
        runs.resize_with(runs.len().max(counts.len()), Counts::default);
        runs.iter_mut().zip(&counts).for_each(|(sum, more)| sum.include(more));
    }
    runs
}

/// What of `more` is not in `fewer`, for each of so many.
fn less(more: &Counts, fewer: &Counts, each: u64) -> Counts {
    let of = |more: u64, fewer: u64| {
        let difference = more.saturating_sub(fewer);
        difference.saturating_add(each / 2).checked_div(each).unwrap_or(difference)
    };
    let before = |event| fewer.events.get(event).copied().unwrap_or(0);
    let events = more.events.iter().map(|(event, number)| (*event, of(*number, before(event))));
    Counts {
        calls: of(more.calls, fewer.calls),
        instructions: of(more.instructions, fewer.instructions),
        events: events.filter(|(_, number)| *number > 0).collect(),
    }
}

/// The events of each run in `costs`, each of `counted` once.
fn events(part: Part, costs: &[Counts], counted: &[Event]) -> PathEvents {
    let others: BTreeMap<&str, Event> = counted.iter().map(|it| (it.word(), *it)).collect();
    let others = || others.values().copied();
    let numbers = costs.iter().map(|run| {
        let others = others().map(|event| run.events.get(&event).copied().unwrap_or(0));
        [run.instructions].into_iter().chain(others).collect()
    });
    PathEvents::of_numbers([part.retired()].into_iter().chain(others()), numbers)
}

/// How often an iteration makes which system calls, in the first later run: `read 1, write 2`.
/// Calls that not every iteration makes alike stand as `brk 3 in 8`.
fn calls([fewer, more]: [&Measurement; 2], iterations: u64) -> Check {
    let of = |result: &Measurement, name: &str| {
        let row = result.paths.iter().find(|row| row.path == name);
        row.and_then(|row| row.counts().get(1).map(|run| run.calls)).unwrap_or(0)
    };
    let system_call = |kind: RowKind| matches!(kind, RowKind::Syscall | RowKind::Syscall32);
    let rows = more.paths.iter().filter(|row| row.work_kind().is_some_and(system_call));
    let each = rows.filter_map(|row| {
        let calls = of(more, &row.path).saturating_sub(of(fewer, &row.path));
        match (calls.checked_div(iterations)?, calls.checked_rem(iterations)?) {
            (0, 0) => None,
            (each, 0) => Some(format!("{} {each}", row.path)),
            _ => Some(format!("{} {calls} in {iterations}", row.path)),
        }
    });
    let each: Vec<String> = each.collect();
    let none = "none".to_owned();
    Check::new("calls", &if each.is_empty() { none } else { each.join(", ") })
}

fn negative(below: usize, of: usize) -> Option<Check> {
    let value = format!("{below} of {of} runs, which count as 0");
    (below > 0).then(|| Check::new("below 0", &value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProgramRow, ProgramRun, RunClock, example, program_rows};

    fn row(kind: RowKind, name: &str, calls: u64, instructions: u64) -> ProgramRow {
        let events = BTreeMap::from([(Event::StringBytes, instructions / 10)]);
        ProgramRow { kind, name: name.to_owned(), calls, instructions, steps: instructions, events }
    }

    fn empty() -> Measurement {
        example::measurement("6.1.0", example::configuration("6.1.0", 8), Vec::new())
    }

    /// A cold run, and later ones of a program that reads `reads` times.
    fn result(reads: u64, later: &[u64]) -> Measurement {
        let run = |noise: u64| ProgramRun {
            clock: RunClock { clock: 0, idle: 0 },
            rows: vec![
                row(RowKind::User, "", 0, 1_000 + 50 * reads),
                row(RowKind::Syscall, "read", reads, 300 * reads + noise),
                row(RowKind::Syscall, "brk", 2, 400),
                row(RowKind::Interrupt, "timer", 1, 5_000 * reads),
            ],
            processes: Vec::new(),
        };
        let runs: Vec<ProgramRun> = [9_999].iter().chain(later).map(|it| run(*it)).collect();
        let paths = program_rows(&runs, &[Event::StringBytes], Vec::new(), Vec::new());
        Measurement { paths, ..empty() }
    }

    #[test]
    fn an_iteration_is_the_difference_by_the_number_of_iterations() {
        let [kernel, own] = benchmark_slope("a/8", [&result(2, &[0, 7]), &result(10, &[4, 7])], 8);
        assert_eq!((&*kernel.path, &*own.path), ("a/8: kernel", "a/8: user code"));
        // Interrupts are not the benchmark's; 2,404 by 8 is 300.5, which is rounded up.
        assert_eq!((&kernel.samples[..], &own.samples[..]), (&[301, 300][..], &[50, 50][..]));
        assert_eq!(kernel.checks[1], Check::new("calls", &"read 1"));
        let of = |path: &PathResult| path.events.clone().unwrap().histogram(Event::StringBytes);
        assert_eq!((of(&kernel).median(), of(&own).median()), (Some(30), Some(5)));
    }

    #[test]
    fn calls_that_not_every_iteration_makes_are_told_of_all() {
        let [kernel, _] = benchmark_slope("a", [&result(0, &[0]), &result(11, &[0])], 8);
        assert_eq!(kernel.checks[1], Check::new("calls", &"read 11 in 8"));
    }

    #[test]
    fn a_difference_below_nothing_is_told() {
        let [kernel, _] = benchmark_slope("a", [&result(2, &[5_000, 0]), &result(3, &[0, 0])], 1);
        assert_eq!(kernel.samples, [0, 300]);
        let told = Check::new("below 0", &"1 of 2 runs, which count as 0");
        assert_eq!(kernel.checks.last(), Some(&told));
    }

    #[test]
    fn without_later_runs_there_is_no_iteration() {
        let [kernel, own] = benchmark_slope("a", [&result(2, &[]), &result(3, &[])], 1);
        assert!([kernel, own].iter().all(|path| path.reason.is_some()));
    }

    #[test]
    fn the_longest_execution_of_a_run_is_the_iteration() {
        let names = [Event::Kernel, Event::User].into_iter();
        let numbers = [[1, 2], [70, 30], [60, 40]].map(Vec::from).into_iter();
        let runs = [vec![3, 100], vec![100]];
        let region = PathResult::ok("user.iteration", Unit::Instructions, &runs, Vec::new())
            .counting(PathEvents::of_numbers(names, numbers));
        let result = Measurement { paths: vec![region], ..empty() };
        let [kernel, own] = benchmark_once("b", &result, "iteration").unwrap();
        assert_eq!((kernel.samples, own.samples), (vec![70, 60], vec![30, 40]));
        assert_eq!(benchmark_once("b", &result, "another"), None);
    }
}
