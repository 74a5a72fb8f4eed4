//! The document of a slope, `pathmeter.slope/1`: what a kernel's paths cost by the number of a
//! setting, such as layers, rules or groups, as exact functions.
//!
//! A function is linear between two numbers that were measured. Pieces that follow each other on
//! one line are one; where the next one begins, the function bends.

use std::collections::BTreeSet;

use pathmeter_seal::schema_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Comparison, Configuration, Measurement, PathComparison, SettingRow, SideInfo, Threshold,
    Verdict, compare, percent_of,
};

schema_name!(pub SlopeSchema = "pathmeter.slope/1");

/// What rows cost by the number of a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlopeResult {
    pub schema: SlopeSchema,
    /// The kernel under the default condition, against which all is.
    pub base: SideInfo,
    /// All that its measurement depends on.
    pub configuration: Configuration,
    /// The setting, its numbers in braces.
    pub setting: String,
    /// What one more is called: layer, rule, group, unit.
    pub unit: String,
    /// The numbers, in ascending order, without that of the default.
    pub numbers: Vec<u64>,
    pub paths: SlopeRows,
    /// The program that was run as well, and its arguments, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Vec<String>>,
    /// The program's rows, in its later runs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_rows: Option<SlopeRows>,
}

/// The rows that differ under any of the numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlopeRows {
    /// How many rows were compared.
    pub compared: usize,
    /// Those that differ; the largest difference under the last number first, in percent.
    pub rows: Vec<SlopeRow>,
    /// Rows that were not measured under every number.
    pub unmeasured: Vec<String>,
}

/// What one row costs by the number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlopeRow {
    pub row: String,
    /// Its instructions under the default: the row's value there.
    pub base: u64,
    /// The difference to that under each number.
    pub differences: Vec<i64>,
    /// Whether it has several exact values under any number; then typical ones are compared.
    pub several_values: bool,
    /// Whether under some number most pairs of executions do not have the difference: then the
    /// differences scatter, and are points on no function, of which there is nothing below.
    #[serde(default)]
    pub scatters: bool,
    /// What it costs whatever the number: the line of the first piece where the number would be 0,
    /// less the default. Null if one unit costs no whole number of instructions there.
    pub constant: Option<i64>,
    /// The function between the first and the last number.
    pub pieces: Vec<SlopePiece>,
}

/// A part of a function that is linear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlopePiece {
    /// The number it begins with.
    pub from: u64,
    /// The number it ends with, where the function bends if another piece follows.
    pub to: u64,
    /// By how many instructions the end differs from the beginning.
    pub difference: i64,
    /// What each further unit costs; null if that is no whole number.
    pub per_unit: Option<i64>,
}

impl SlopeResult {
    /// Whether each row's function is that of its own differences, under ascending numbers.
    ///
    /// # Errors
    /// The row, and what contradicts itself.
    pub fn check(&self) -> Result<(), String> {
        if !self.numbers.is_sorted_by(|one, next| one < next) {
            return Err("the numbers do not ascend".to_owned());
        }
        let all = [Some(&self.paths), self.program_rows.as_ref()].into_iter().flatten();
        all.flat_map(|rows| &rows.rows).try_for_each(|row| {
            let points = self.numbers.iter().copied().zip(row.differences.iter().copied());
            let points: Vec<_> = if row.scatters { Vec::new() } else { points.collect() };
            let (constant, pieces) = fit_pieces(&points);
            let is_whole = row.differences.len() == self.numbers.len();
            if is_whole && (constant, &pieces) == (row.constant, &row.pieces) {
                return Ok(());
            }
            Err(format!("{}: its function is not that of its differences", row.row))
        })
    }
}

impl SlopePiece {
    fn between(&(from, at_from): &(u64, i64), &(to, at_to): &(u64, i64)) -> Self {
        Self::of(from, to, at_to.saturating_sub(at_from))
    }

    fn of(from: u64, to: u64, difference: i64) -> Self {
        let units = i64::try_from(to.saturating_sub(from)).unwrap_or(i64::MAX);
        let is_whole = units > 0 && difference % units == 0;
        Self { from, to, difference, per_unit: is_whole.then(|| difference / units) }
    }

    /// Joins two adjacent pieces into one; None if their slopes differ.
    fn join_if_collinear(self, next: Self) -> Option<Self> {
        let slope =
            |one: Self, other: Self| i128::from(one.difference) * i128::from(other.to - other.from);
        let both = self.difference.saturating_add(next.difference);
        (slope(self, next) == slope(next, self)).then(|| Self::of(self.from, next.to, both))
    }
}

impl SlopeRow {
    /// Whether it costs a constant and as many instructions for each unit, without a bend.
    pub fn is_straight(&self) -> bool {
        self.pieces.len() == 1 && self.constant.is_some()
    }

    /// The numbers at which it bends.
    pub fn bends(&self) -> impl Iterator<Item = u64> {
        self.pieces.iter().skip(1).map(|piece| piece.from)
    }

    /// The size of the last difference, in percent of the default.
    fn size(&self) -> f64 {
        let last = self.differences.last().copied().unwrap_or(0);
        let with = self.base.saturating_add(last.unsigned_abs());
        percent_of((self.base, with)).unwrap_or(0.0)
    }
}

/// The function through these points, whose numbers ascend: its constant, and its pieces.
pub(crate) fn fit_pieces(points: &[(u64, i64)]) -> (Option<i64>, Vec<SlopePiece>) {
    let mut pieces: Vec<SlopePiece> = Vec::new();
    for pair in points.windows(2) {
        let next = SlopePiece::between(&pair[0], &pair[1]);
        match pieces.last().and_then(|last| last.join_if_collinear(next)) {
            Some(both) => *pieces.last_mut().expect("it was just seen") = both,
            None => pieces.push(next),
        }
    }
    let first = points.first().zip(pieces.first().and_then(|piece| piece.per_unit));
    let constant = first.and_then(|((number, difference), per_unit)| {
        difference.checked_sub(per_unit.checked_mul(i64::try_from(*number).ok()?)?)
    });
    (constant, pieces)
}

impl SlopeRows {
    /// Of the paths of a kernel that was measured under these numbers, those that `is_shown`. A
    /// path differs if a setting with any of them changes it.
    pub fn of_paths(
        base: &Measurement,
        steps: &[(u64, &Measurement)],
        is_shown: impl Fn(&str) -> bool,
    ) -> Self {
        let changed = |new| SettingRow::compare(Default::default(), [base, new]).changed;
        let changed = steps.iter().flat_map(|(_, new)| changed(new));
        let changed: BTreeSet<String> = changed.map(|change| change.path).collect();
        Self::of(base, steps, |path| changed.contains(&path.path), is_shown)
    }

    /// Of the rows of a program.
    pub fn of_program(base: &Measurement, steps: &[(u64, &Measurement)]) -> Self {
        Self::of(base, steps, |row| row.verdict != Verdict::Same, |_| true)
    }

    fn of(
        base: &Measurement,
        steps: &[(u64, &Measurement)],
        differs: impl Fn(&PathComparison) -> bool,
        is_shown: impl Fn(&str) -> bool,
    ) -> Self {
        let compared: Vec<(u64, Comparison)> = steps
            .iter()
            .map(|(number, new)| (*number, compare(base, new, Threshold::default())))
            .collect();
        let all = compared.iter().flat_map(|(_, comparison)| &comparison.paths);
        let measured = all.clone().filter(|row| row.base.is_some() && is_shown(&row.path));
        let names: BTreeSet<&str> = measured.clone().map(|row| &*row.path).collect();
        let changed = measured.filter(|row| differs(row)).map(|row| &*row.path);
        let changed: BTreeSet<&str> = changed.collect();
        let mut rows: Vec<SlopeRow> = Vec::new();
        let mut unmeasured = Vec::new();
        for name in &names {
            match row(name, base, &compared) {
                None => unmeasured.push((*name).to_owned()),
                // What differs in its values or its place alone has no slope.
                Some(row)
                    if changed.contains(name) && row.differences.iter().any(|it| *it != 0) =>
                {
                    rows.push(row);
                }
                Some(_) => {}
            }
        }
        rows.sort_by(|one, other| other.size().total_cmp(&one.size()));
        Self { compared: names.len() - unmeasured.len(), rows, unmeasured }
    }
}

/// The row of this name; none if it has no difference under some number.
fn row(name: &str, base: &Measurement, compared: &[(u64, Comparison)]) -> Option<SlopeRow> {
    let of =
        |comparison: &'_ Comparison| comparison.paths.iter().find(|row| row.path == name).cloned();
    let rows: Vec<(u64, PathComparison)> = compared
        .iter()
        .map(|(number, comparison)| Some((*number, of(comparison)?)))
        .collect::<Option<_>>()?;
    let point = |(number, row): &(u64, PathComparison)| Some((*number, row.difference?));
    let points = rows.iter().map(point).collect::<Option<Vec<_>>>()?;
    let scatters = rows.iter().any(|(_, row)| row.pairs.is_some_and(|it| !it.are_most()));
    let (constant, pieces) = if scatters { (None, Vec::new()) } else { fit_pieces(&points) };
    Some(SlopeRow {
        row: name.to_owned(),
        base: base.paths.iter().find(|row| row.path == name)?.value()?,
        differences: points.iter().map(|(_, difference)| *difference).collect(),
        several_values: rows.iter().any(|(_, row)| row.is_many_valued()),
        scatters,
        constant,
        pieces,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PathResult, Unit, example};
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::btree_set(1_u64..1000, 3..12).prop_map(|set| set.into_iter().collect())
    }

    proptest! {
        #[test]
        fn a_line_is_recovered_to_the_instruction(
            numbers in numbers(), constant in -100_000_i64..100_000, per_unit in -5000_i64..5000,
        ) {
            let at = |number: &u64| (*number, constant + per_unit * number.cast_signed());
            let (found, pieces) = fit_pieces(&numbers.iter().map(at).collect::<Vec<_>>());
            prop_assert_eq!(found, Some(constant));
            prop_assert_eq!(pieces.len(), 1);
            prop_assert_eq!(pieces[0].per_unit, Some(per_unit));
            prop_assert_eq!((pieces[0].from, Some(&pieces[0].to)), (numbers[0], numbers.last()));
        }

        #[test]
        fn bends_are_named_where_they_are(
            numbers in numbers(), at in any::<prop::sample::Index>(), constant in -1000_i64..1000,
            before in -500_i64..500, more in 1_i64..500,
        ) {
            let bend = numbers[1 + at.index(numbers.len() - 2)];
            let value = |number: u64| {
                let beyond = number.saturating_sub(bend).cast_signed();
                constant + before * number.cast_signed() + more * beyond
            };
            let points: Vec<_> = numbers.iter().map(|it| (*it, value(*it))).collect();
            let (found, pieces) = fit_pieces(&points);
            prop_assert_eq!(found, Some(constant));
            let slopes: Vec<_> = pieces.iter().map(|piece| (piece.from, piece.per_unit)).collect();
            let expected = [(numbers[0], Some(before)), (bend, Some(before + more))];
            prop_assert_eq!(slopes, expected);
        }

        #[test]
        fn the_pieces_go_through_every_point(
            numbers in numbers(), values in prop::collection::vec(-1_000_000_i64..1_000_000, 12),
        ) {
            let points: Vec<_> = numbers.iter().copied().zip(values).collect();
            let (_, pieces) = fit_pieces(&points);
            let all: i64 = pieces.iter().map(|piece| piece.difference).sum();
            prop_assert_eq!(all, points[points.len() - 1].1 - points[0].1);
            prop_assert!(pieces.windows(2).all(|two| two[0].to == two[1].from));
            for piece in pieces {
                let value = |number| points.iter().find(|it| it.0 == number).unwrap().1;
                prop_assert_eq!(value(piece.to) - value(piece.from), piece.difference);
            }
        }
    }

    #[test]
    fn differences_that_most_pairs_do_not_have_are_points_on_no_function() {
        let runs = |cost: &dyn Fn(u64) -> u64| -> Vec<Vec<u64>> {
            (0..6).map(|run| (0..4).map(|at| cost(4 * run + at)).collect()).collect()
        };
        let result = |layers: u64| {
            let even = if layers == 0 { 0 } else { 500 + 23 * layers };
            let forks = runs(&|at| match layers {
                0 => 70_000 + 40 * at,
                _ => 70_000 + 40 * at + 4_000 + (at * 37 + layers * 11) % 900,
            });
            let stats = runs(&|_| 2_000 + even);
            let path = |name, runs: &[Vec<u64>]| {
                PathResult::ok(name, Unit::Instructions, runs, Vec::new())
            };
            let paths = vec![path("process.fork", &forks), path("file.stat", &stats)];
            example::measurement("k", example::configuration("6.1.0", 6), paths)
        };
        let steps = [1, 2, 4].map(|layers| (layers, result(layers)));
        let steps = steps.each_ref().map(|(layers, result)| (*layers, result));
        let rows = SlopeRows::of_program(&result(0), &steps).rows;
        let find = |name| rows.iter().find(|row| row.row == name).unwrap();
        let (fork, stat) = (find("process.fork"), find("file.stat"));
        assert!(fork.scatters && fork.pieces.is_empty() && fork.constant.is_none(), "{fork:?}");
        assert_eq!(fork.base, 70_440, "what the kernel's own result shows");
        assert_eq!(
            (stat.scatters, stat.constant, stat.pieces[0].per_unit),
            (false, Some(500), Some(23))
        );
    }

    #[test]
    fn what_is_no_whole_number_for_each_unit_is_told_so() {
        let (constant, pieces) = fit_pieces(&[(1, 0), (4, 10), (7, 20)]);
        assert_eq!(constant, None);
        assert_eq!(pieces, [SlopePiece { from: 1, to: 7, difference: 20, per_unit: None }]);
        assert_eq!(fit_pieces(&[(1, 5)]), (None, vec![]));
    }
}
