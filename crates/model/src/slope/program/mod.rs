//! The document of a program's slope, `pathmeter.program-slope/1`: what the rows, regions and
//! windows of a program cost by a number among its arguments.
//!
//! The value of a row with a number is its median there, as everywhere. Runs are compared in pairs:
//! the first later run with one number and the first with another were disturbed alike. A row of
//! which most pairs do not have the difference of its values *scatters*, and is on no function.
//!
//! A number with more digits is a longer argument, which the kernel copies and the program reads:
//! what that costs is no part of the slope, but a step of its own.

mod length_steps;
mod pairs;

use std::collections::BTreeSet;
use std::ops::Range;

use pathmeter_seal::schema_name;
use pathmeter_trace::RowKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::length_steps::LengthStep;
use self::length_steps::fit_values;
use self::pairs::{Executions, Pairs};
use crate::{Configuration, Measurement, PathResult, Polynomial, SideInfo, SlopePiece, Status};

schema_name!(pub ProgramSlopeSchema = "pathmeter.program-slope/1");

/// What a program costs by a number among its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramSlopeResult {
    pub schema: ProgramSlopeSchema,
    pub base: SideInfo,
    /// All that the measurement with the first number depends on; those with the others differ in
    /// the arguments alone.
    pub configuration: Configuration,
    /// The word that stands for the number among the arguments.
    pub word: String,
    /// The numbers, in ascending order.
    pub numbers: Vec<u64>,
    /// The numbers as the program is given them.
    pub digits: Vec<String>,
    /// The program and its arguments, with the word.
    pub command: Vec<String>,
    /// The rows by kind and name, all own work, and the sum; then the regions and windows.
    pub rows: Vec<ProgramSlopeRow>,
    /// Regions and windows that were not measured with every number.
    pub unmeasured: Vec<String>,
}

/// What one row costs by the number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramSlopeRow {
    pub row: String,
    /// Its kind; null of a region or a window, whose values are of one execution.
    pub kind: Option<RowKind>,
    /// Its instructions with each number.
    pub values: Vec<u64>,
    /// The least and the largest that pairs of runs differ by, from the first number to each of the
    /// others.
    pub ranges: Vec<[i64; 2]>,
    /// Whether, with some number, not most pairs of runs have the difference of the values. Then
    /// there is no function.
    pub scatters: bool,
    /// The line or parabola through all values; null if there is none, if it scatters, or if a
    /// parabola goes through no more than three.
    pub function: Option<Polynomial>,
    /// The linear pieces from number to number, joined where they are on one line: where one ends
    /// and another begins, the function bends. Empty if it scatters. Steps are in no piece.
    pub pieces: Vec<SlopePiece>,
    /// What numbers with more digits cost beside the function, which is that of the numbers with as
    /// many digits as the first. Empty if there are none, or if the function holds without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<LengthStep>,
}

impl ProgramSlopeRow {
    /// Whether it is work that the program itself causes.
    pub fn is_own_work(&self) -> bool {
        self.kind.is_some_and(RowKind::is_own_work)
    }

    /// Whether it is known to cost more, or less, with the last number than with the first: by a
    /// function, or in every pair of runs.
    pub fn depends(&self) -> bool {
        let [least, most] = self.range();
        if self.scatters {
            return least.signum() == most.signum() && least != 0;
        }
        self.values.windows(2).any(|two| two[0] != two[1])
    }

    /// The least and the largest that pairs of runs differ by from the first number to the last.
    pub fn range(&self) -> [i64; 2] {
        self.ranges.last().copied().unwrap_or([0, 0])
    }

    /// The least and the largest that pairs of runs differ by from one of the numbers to a later
    /// one, by their places. Only differences from the first number are known: of others, bounds.
    pub fn range_between(&self, from: usize, to: usize) -> Option<[i64; 2]> {
        let of = |at: usize| match at.checked_sub(1) {
            None => Some([0, 0]),
            Some(at) => self.ranges.get(at).copied(),
        };
        let ([low, high], [least, most]) = (of(from)?, of(to)?);
        Some([least.saturating_sub(high), most.saturating_sub(low)])
    }

    /// Whether it bends between these of the numbers though it scatters: no slope that the first
    /// two allow is one that the first and the last allow. They should have one length.
    pub fn is_bent(&self, numbers: &[u64], places: Range<usize>) -> bool {
        let Range { start, end } = places;
        let chord = |to: usize| {
            let units = numbers.get(to)?.checked_sub(*numbers.get(start)?)?;
            Some((self.range_between(start, to)?, i128::from(units)))
        };
        let chords = chord(start + 1).zip(end.checked_sub(1).and_then(chord));
        let Some((([low, high], near), ([least, most], far))) = chords else { return false };
        let is_below = |one: i64, of: i128, other: i64, of_other: i128| {
            i128::from(one) * of_other < i128::from(other) * of
        };
        self.depends() && (is_below(high, near, least, far) || is_below(most, far, low, near))
    }

    /// The numbers at which it bends.
    pub fn bends(&self) -> impl Iterator<Item = u64> {
        self.pieces.iter().skip(1).map(|piece| piece.from)
    }
}

impl ProgramSlopeResult {
    /// Of these results of one program with ascending numbers, each with its digits; `command` has
    /// the word. None without results.
    pub fn of(
        (word, command): (&str, Vec<String>),
        steps: &[(u64, String)],
        results: &[Measurement],
    ) -> Option<Self> {
        let base = results.first()?;
        let (numbers, digits): (Vec<u64>, Vec<String>) = steps.iter().cloned().unzip();
        let (rows, unmeasured) = rows(&digits, &numbers, results);
        Some(Self {
            schema: ProgramSlopeSchema::V1,
            base: SideInfo::from(base),
            configuration: base.configuration.clone(),
            word: word.to_owned(),
            numbers,
            digits,
            command,
            rows,
            unmeasured,
        })
    }

    /// Whether each row's function is that of its own values, with ascending numbers.
    ///
    /// # Errors
    /// The row, and what contradicts itself.
    pub fn check(&self) -> Result<(), String> {
        let count = self.numbers.len();
        let ascends = self.numbers.is_sorted_by(|one, next| one < next);
        if !ascends || count < 2 || self.digits.len() != count {
            return Err("the numbers are not two or more that ascend".to_owned());
        }
        self.rows.iter().try_for_each(|row| {
            let is_whole = row.values.len() == count && row.ranges.len() == count - 1;
            if is_whole {
                let fitted = if row.scatters {
                    Default::default()
                } else {
                    fit_values(&self.digits, &self.numbers, &row.values)
                };
                let (function, pieces, steps) = &fitted;
                if (function, pieces, steps) == (&row.function, &row.pieces, &row.steps) {
                    return Ok(());
                }
            }
            Err(format!("{}: its function is not that of its values", row.row))
        })
    }

    /// The places of the most numbers in a row that have one length.
    pub fn longest_of_one_length(&self) -> Range<usize> {
        let mut longest = 0..0;
        let mut begin = 0;
        for of_one in self.digits.chunk_by(|one, next| one.len() == next.len()) {
            let end = begin + of_one.len();
            if of_one.len() > longest.len() {
                longest = begin..end;
            }
            begin = end;
        }
        longest
    }

    /// The row of all own work.
    pub fn own_work(&self) -> Option<&ProgramSlopeRow> {
        self.rows.iter().find(|row| row.kind == Some(RowKind::OwnWork))
    }
}

/// The rows, and the names of those that are not there with every number.
fn rows(
    digits: &[String],
    numbers: &[u64],
    results: &[Measurement],
) -> (Vec<ProgramSlopeRow>, Vec<String>) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let (mut rows, mut unmeasured) = (Vec::new(), Vec::new());
    for path in results.iter().flat_map(|result| &result.paths) {
        if !seen.insert(&path.path) {
            continue;
        }
        match row(path, (digits, numbers), results) {
            Some(row) => rows.push(row),
            None => unmeasured.push(path.path.clone()),
        }
    }
    let place = |row: &ProgramSlopeRow| row.kind.map_or((1, None), |kind| (0, Some(kind)));
    rows.sort_by_key(place);
    (rows, unmeasured)
}

/// The row of this path; None if it is not there with some number.
fn row(
    path: &PathResult,
    (digits, numbers): (&[String], &[u64]),
    results: &[Measurement],
) -> Option<ProgramSlopeRow> {
    let kind = path.work.as_ref().map(|work| work.kind);
    let of = |result: &Measurement| match result.paths.iter().find(|it| it.path == path.path) {
        Some(there) if there.status == Status::Ok => Some(Executions::of(there)?),
        None if kind.is_some() => Some(Executions::none(result)),
        _ => None,
    };
    let steps = results.iter().map(of).collect::<Option<Vec<Executions>>>()?;
    let (first, others) = steps.split_first()?;
    let pairs: Vec<Pairs> = others.iter().map(|step| Pairs::of(first, step)).collect();
    let values: Vec<u64> = steps.iter().map(|step| step.value).collect();
    let scatters = pairs.iter().any(|pairs| !pairs.are_most);
    let (function, pieces, steps) =
        if scatters { Default::default() } else { fit_values(digits, numbers, &values) };
    Some(ProgramSlopeRow {
        row: path.path.clone(),
        kind,
        values,
        ranges: pairs.iter().map(|pairs| pairs.range).collect(),
        scatters,
        function,
        pieces,
        steps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::runs::{ProgramExample, program, row as work, run};
    use crate::{OWN_WORK, Ratio, Unit, example};

    /// A program of which `costs` gives the rows in each of seven runs with a number.
    fn example_with_costs(
        number: u64,
        costs: impl Fn(u64, u64) -> Vec<(RowKind, &'static str, u64)>,
    ) -> ProgramExample {
        let rows_at = |at| {
            let rows = costs(number, at).into_iter();
            rows.map(|(kind, name, cost)| work(kind, name, number, cost)).collect()
        };
        program(
            "k",
            example::configuration("6.1.0", 7),
            (0..7).map(|at| run(0, rows_at(at))).collect(),
        )
    }

    fn slope(
        numbers: &[u64],
        costs: impl Fn(u64, u64) -> Vec<(RowKind, &'static str, u64)> + Copy,
        regions: impl Fn(u64) -> Vec<PathResult>,
    ) -> ProgramSlopeResult {
        let result = |number: &u64| {
            ProgramExample { regions: regions(*number), ..example_with_costs(*number, costs) }
                .result()
        };
        let results: Vec<Measurement> = numbers.iter().map(result).collect();
        let steps: Vec<(u64, String)> = numbers.iter().map(|n| (*n, n.to_string())).collect();
        ProgramSlopeResult::of(("N", vec!["loop".into(), "N".into()]), &steps, &results).unwrap()
    }

    fn find<'a>(slope: &'a ProgramSlopeResult, name: &str) -> &'a ProgramSlopeRow {
        slope.rows.iter().find(|row| row.row == name).unwrap()
    }

    const NUMBERS: [u64; 4] = [25, 50, 100, 200];

    #[test]
    fn lines_parabolas_and_bends_are_told_apart_and_scatter_is_no_function() {
        let costs = |n: u64, run: u64| {
            vec![
                (RowKind::User, "", 5000 + 7 * n),
                (RowKind::Syscall, "getppid", 321 * n),
                (RowKind::Syscall, "read", 25 * n * n),
                (RowKind::Syscall, "write", 90 * n + 40 * n.saturating_sub(100)),
                (RowKind::Syscall, "execve", 110_000 + (run * n * 37 + n * 11) % 900),
                (
                    RowKind::PageFault,
                    "write, page not present",
                    2200 * n + (run * n * 37 + n * 11) % 90,
                ),
            ]
        };
        let slope = slope(&NUMBERS, costs, |_| Vec::new());
        let whole = |numerator| Ratio { numerator, denominator: 1 };
        let function = |name| find(&slope, name).function;
        assert_eq!(
            function("getppid"),
            Some(Polynomial { constant: whole(0), per_unit: whole(321), per_square: whole(0) })
        );
        assert_eq!(
            function("read"),
            Some(Polynomial { constant: whole(0), per_unit: whole(0), per_square: whole(25) })
        );
        let write = find(&slope, "write");
        assert_eq!((write.function, write.bends().collect::<Vec<_>>()), (None, vec![100]));
        for (name, depends) in [("execve", false), ("page fault: write, page not present", true)] {
            let row = find(&slope, name);
            assert!(row.scatters && row.pieces.is_empty() && row.function.is_none(), "{row:?}");
            assert_eq!(
                (row.depends(), row.is_bent(&NUMBERS, 0..NUMBERS.len())),
                (depends, false),
                "{row:?}"
            );
        }
        let own = slope.own_work().unwrap();
        assert_eq!((&*own.row, own.scatters, own.depends()), (OWN_WORK, true, true));
    }

    #[test]
    fn a_row_that_scatters_bends_among_the_most_numbers_of_one_length() {
        let costs = |n: u64, run: u64| {
            vec![
                (RowKind::Syscall, "read", 4 * n * n + (run * n * 7) % 90),
                (RowKind::Syscall, "write", 900 * n + (run * n * 7) % 90),
            ]
        };
        let slope = slope(&[50, 100, 200, 400, 1000], costs, |_| Vec::new());
        assert_eq!(slope.longest_of_one_length(), 1..4);
        let is_bent = |name| find(&slope, name).is_bent(&slope.numbers, 1..4);
        assert_eq!((is_bent("read"), is_bent("write")), (true, false));
        assert!(find(&slope, "read").scatters && find(&slope, "write").scatters);
    }

    #[test]
    fn what_a_longer_number_costs_is_a_step_and_no_bend() {
        let costs = |n: u64, _| {
            let digits = n.to_string().len() as u64;
            vec![
                (RowKind::User, "", 5000 + 7 * n + 39 * digits),
                (RowKind::Syscall, "execve", 60_000 + 15 * digits),
                (RowKind::Syscall, "getppid", 321 * n),
                (RowKind::Syscall, "write", 90 * n + 40 * n.saturating_sub(150)),
            ]
        };
        let slope = slope(&NUMBERS, costs, |_| Vec::new());
        let step = |difference| vec![LengthStep { from: 100, difference }];
        let row = find(&slope, "user code");
        assert_eq!((row.function.unwrap().per_unit.numerator, &row.steps), (7, &step(39)));
        assert_eq!(row.pieces.len(), 1);
        let row = find(&slope, "execve");
        assert_eq!((row.function.unwrap().is_constant(), &row.steps), (true, &step(15)));
        assert!(find(&slope, "getppid").steps.is_empty());
        let write = find(&slope, "write");
        assert!(write.function.is_none() && write.steps.is_empty(), "{write:?}");
        assert_eq!(slope.check(), Ok(()));
        let mut other = slope.clone();
        other.rows.iter_mut().for_each(|row| row.steps.clear());
        assert!(other.check().is_err());
        assert_eq!(slope.longest_of_one_length(), 0..2);
    }

    #[test]
    fn a_step_is_not_told_from_a_bend_by_as_many_numbers_as_there_are_terms() {
        let costs = |n: u64, _| vec![(RowKind::Syscall, "write", 90 * n + 40 * (n / 100))];
        let slope = slope(&[50, 100, 200], costs, |_| Vec::new());
        let write = find(&slope, "write");
        assert!(write.function.is_none() && write.steps.is_empty(), "{write:?}");
        assert_eq!(write.bends().collect::<Vec<_>>(), [100]);
    }

    #[test]
    fn a_document_whose_function_is_another_is_told_from_one_that_was_written() {
        let costs = |n: u64, _| vec![(RowKind::Syscall, "getppid", 321 * n)];
        let written = slope(&NUMBERS, costs, |_| Vec::new());
        assert_eq!(written.check(), Ok(()));
        let mut other = written.clone();
        other.rows[0].values[1] += 1;
        assert!(other.check().unwrap_err().ends_with("is not that of its values"));
        let mut other = written.clone();
        other.numbers[1] = other.numbers[0];
        assert!(other.check().is_err());
        let mut other = written;
        other.rows[0].ranges.clear();
        assert!(other.check().is_err());
    }

    #[test]
    fn a_row_that_some_number_lacks_cost_nothing_there_and_a_region_was_not_measured() {
        let costs = |n: u64, _| match n {
            0 => vec![(RowKind::User, "", 5000)],
            n => vec![(RowKind::User, "", 5000), (RowKind::Syscall, "getppid", 321 * n)],
        };
        let region = |n| match n {
            0 => Vec::new(),
            n => vec![PathResult::ok("user.a", Unit::Instructions, &[vec![n; 6]], Vec::new())],
        };
        let slope = slope(&[0, 10, 20], costs, region);
        let getppid = find(&slope, "getppid");
        assert_eq!((&*getppid.values, getppid.scatters), (&[0, 3210, 6420][..], false));
        assert_eq!(slope.unmeasured, ["user.a"]);
    }

    #[test]
    fn a_region_is_compared_by_the_median_of_its_executions_or_by_its_medians() {
        let costs = |n: u64, _| vec![(RowKind::User, "", 5000 + n)];
        let regions = |n: u64| {
            let once: Vec<Vec<u64>> = (0..6).map(|run| vec![9 * n + run]).collect();
            let each: Vec<Vec<u64>> =
                (0..6).map(|_| vec![300; usize::try_from(n).unwrap()]).collect();
            // A tick interrupts one execution of each run.
            let ticked = |run: u64| {
                (0..20)
                    .map(move |at| 50 * n + if at == (run + n) % 20 { 9000 } else { 0 })
                    .collect()
            };
            let ticked: Vec<Vec<u64>> = (0..6).map(ticked).collect();
            let ok =
                |name, runs: &[Vec<u64>]| PathResult::ok(name, Unit::Instructions, runs, vec![]);
            vec![ok("user.once", &once), ok("user.each", &each), ok("user.ticked", &ticked)]
        };
        let slope = slope(&NUMBERS, costs, regions);
        let once = find(&slope, "user.once");
        assert!(!once.scatters && once.kind.is_none(), "{once:?}");
        assert_eq!(once.function.unwrap().per_unit, Ratio { numerator: 9, denominator: 1 });
        assert_eq!(once.ranges, [[225; 2], [675; 2], [1575; 2]]);
        assert!(!find(&slope, "user.each").depends());
        let ticked = find(&slope, "user.ticked");
        assert!(!ticked.scatters && ticked.depends(), "{ticked:?}");
        assert_eq!(ticked.ranges, [[1250; 2], [3750; 2], [8750; 2]]);
    }
}
