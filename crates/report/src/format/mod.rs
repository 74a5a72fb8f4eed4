//! Comparisons for programs and places that read something else than a terminal: CI, metrics,
//! mailing lists.
//!
//! Contract: pure functions. Names, releases, reasons and functions come from files and guests:
//! each format escapes them, so that no text can become markup, another row or another metric.

mod bencher;
mod csv;
mod github_benchmark;
mod junit;
mod ktap;
mod markdown;
mod openmetrics;
mod text;

use std::cmp::Reverse;

use pathmeter_model::{
    BudgetReport, Comparison, GateReason, GateReport, PathComparison, RowKind, Unit, Verdict, clean,
};
use pathmeter_trace::Explain;

use crate::causes::AreaSums;
use crate::measured_with::of_sides;
use crate::number::{at_least, percent, plural, signed, unit_word};

/// Most functions that are named for a path.
const MOST_FUNCTIONS: usize = 5;

/// All formats: their names, what they are for, and what can be put in them. The help, the
/// completions and the verbs have them from here; `docs/guide/gates.md` is compared with it.
pub const FORMATS: &[Format] = &[
    text::FORMAT,
    markdown::FORMAT,
    junit::FORMAT,
    ktap::FORMAT,
    csv::FORMAT,
    openmetrics::FORMAT,
    github_benchmark::FORMAT,
    bencher::FORMAT,
];

/// A format: a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name by which users ask for it.
    pub word: &'static str,
    /// What it is for, as the help shows it.
    pub about: &'static str,
    /// The end of a file's name that promises it.
    pub ending: &'static str,
    /// Whether it tells nothing but what passes a gate and what does not.
    pub is_of_gate: bool,
    rows: fn(Judged<'_>) -> String,
    /// If it has room for a text that is no table.
    page: Option<fn(&str) -> String>,
}

/// What a verb puts in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Rows: paths, work of programs, changes by settings.
    Rows,
    /// An answer as a page of text.
    Page,
}

impl Format {
    /// All that can hold this.
    pub fn of(content: Content) -> impl Iterator<Item = Self> + Clone {
        let holds = move |format: &Self| content == Content::Rows || format.page.is_some();
        FORMATS.iter().copied().filter(holds)
    }

    /// The rows of a comparison in this format.
    pub fn render(self, judged: Judged<'_>) -> String {
        (self.rows)(judged)
    }

    /// A page in this format; empty if it can't hold one.
    pub fn page(self, text: &str) -> String {
        self.page.map_or_else(String::new, |page| page(text))
    }
}

/// What becomes of a path at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Worse,
    /// It had to be compared, and was not.
    Missing,
    Passed,
    /// Nothing was asked of it.
    Unasked,
    /// Neither side, or only NEW, can run it.
    Skipped,
}

/// What the rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsOf {
    /// Two sides, BASE and NEW, which are compared.
    Two,
    /// One side, NEW: BASE has no numbers.
    One,
    /// What settings change of a kernel.
    Settings,
}

/// A comparison, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// What its rows are of.
    pub of: RowsOf,
    pub comparison: &'a Comparison,
    /// The outcome of each of its paths, in its order.
    pub outcomes: &'a [Outcome],
    /// Why paths are worse, and what could not be compared.
    pub gate: &'a GateReport,
    /// Where the differences are, of those paths that were explained.
    pub explanations: &'a [Explain],
    /// Whether causes are also summed up.
    pub sums: AreaSums,
}

/// A path of a comparison, with what is known of it.
#[derive(Clone, Copy)]
struct Line<'a> {
    of: RowsOf,
    row: &'a PathComparison,
    outcome: Outcome,
    explain: Option<&'a Explain>,
    budget: Option<&'a BudgetReport>,
    reasons: &'a [GateReason],
}

impl<'a> Judged<'a> {
    /// The paths, in the comparison's order.
    fn lines(self) -> impl Iterator<Item = Line<'a>> {
        let rows = self.comparison.paths.iter().zip(self.outcomes);
        rows.map(move |(row, &outcome)| Line {
            of: self.of,
            row,
            outcome,
            explain: self.explanations.iter().find(|explain| explain.path == row.path),
            budget: self.comparison.budget.as_ref(),
            reasons: &self.gate.worse,
        })
    }

    /// Why the gate fails though no path is worse: a program ended differently.
    fn beside_paths(self) -> impl Iterator<Item = &'a GateReason> {
        let is_path = move |row: &str| self.comparison.paths.iter().any(|path| path.path == row);
        self.gate.worse.iter().filter(move |reason| !is_path(&reason.row))
    }

    /// Whether the gate fails, by a path or otherwise.
    fn fails(self) -> bool {
        self.count(Outcome::Worse) > 0 || self.beside_paths().next().is_some()
    }

    /// The paths, worst first; of those that are equally bad the largest relative change.
    fn worst_first(self) -> Vec<Line<'a>> {
        let mut lines: Vec<Line<'a>> = self.lines().collect();
        lines.sort_by_key(|line| (line.badness(), Reverse(line.row.relative())));
        lines
    }

    fn count(self, outcome: Outcome) -> usize {
        self.outcomes.iter().filter(|one| **one == outcome).count()
    }
}

/// How a path changed, for sorting.
trait Relative {
    /// Hundred-thousandths of base by which it changed.
    fn relative(&self) -> u128;
}

impl Relative for PathComparison {
    fn relative(&self) -> u128 {
        let difference = u128::from(self.difference.unwrap_or_default().unsigned_abs());
        difference * 100_000 / u128::from(self.base.unwrap_or_default().max(1))
    }
}

impl Line<'_> {
    fn badness(&self) -> u8 {
        match (self.outcome, self.row.verdict) {
            (Outcome::Worse, Verdict::Broken) => 0,
            (Outcome::Worse, _) => 1,
            (Outcome::Missing, _) => 2,
            (Outcome::Passed | Outcome::Unasked, _) if self.is_no_finding() => 5,
            (
                _,
                Verdict::Higher
                | Verdict::ModeAppeared
                | Verdict::LongerTail
                | Verdict::EventsDiffer,
            ) => 3,
            (_, Verdict::Lower | Verdict::ShorterTail) => 4,
            (Outcome::Passed | Outcome::Unasked, _) => 5,
            (Outcome::Skipped, _) => 6,
        }
    }

    /// Whether it is a row of a program that the program does not cause: no finding about it.
    fn is_no_finding(&self) -> bool {
        let kind = self.row.work.as_ref().map(|work| work.kind);
        !self.row.is_own_work() && kind != Some(RowKind::OwnWork)
    }

    /// Whether it is worth a reader's time.
    fn is_notable(&self) -> bool {
        self.badness() < 5 || (self.of == RowsOf::One && self.row.new.is_some())
    }

    /// The verdict; of one side, what became of the path.
    fn verdict(&self) -> String {
        match (self.of, self.row.verdict) {
            (RowsOf::One, Verdict::Same) => "ok".to_owned(),
            (RowsOf::One, Verdict::Broken) => "failed".to_owned(),
            (_, verdict) => verdict.to_string(),
        }
    }

    /// `3,300 -> 3,333 instructions (+33, +1.00 %)`; empty without numbers.
    fn change(&self) -> String {
        let row = self.row;
        let (base, new) = match (row.base, row.new) {
            (Some(base), Some(new)) => (base, new),
            (None, Some(new)) if self.of == RowsOf::One => {
                return format!("{} {}", at_least(new, row.new_at_least), unit_word(row.unit));
            }
            _ => return String::new(),
        };
        let (base, new) = (at_least(base, row.base_at_least), at_least(new, row.new_at_least));
        let share = row.percent.map(percent).filter(|text| !text.is_empty());
        let more = row.difference.filter(|more| *more != 0).map(signed);
        let more: Vec<String> = more.into_iter().chain(share).collect();
        let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
        format!("{base} -> {new} {}{more}", unit_word(row.unit))
    }

    /// The functions in which the difference is, those with the largest first.
    fn functions(&self) -> Vec<String> {
        let Some(difference) = self.explain.and_then(|it| it.difference.as_ref()) else {
            return self.row_functions();
        };
        let changed = difference.functions.iter().filter(|function| function.difference != 0);
        let named = changed.clone().take(MOST_FUNCTIONS);
        let mut texts: Vec<String> = named
            .map(|function| format!("{} {}", clean(&function.name), signed(function.difference)))
            .collect();
        let more = changed.count().saturating_sub(MOST_FUNCTIONS);
        if more > 0 {
            texts.push(format!("and {more} more"));
        }
        if !texts.is_empty() && Some(difference.total) != self.row.difference {
            texts.push(format!("in windows with {}", signed(difference.total)));
        }
        texts
    }

    /// The same of a row of a program.
    fn row_functions(&self) -> Vec<String> {
        let functions: Vec<_> = self.row.functions.iter().filter(|it| it.has_moved()).collect();
        let named = functions.iter().take(MOST_FUNCTIONS);
        let mut texts: Vec<String> =
            named.map(|it| format!("{} {}", clean(&it.function), signed(it.difference))).collect();
        let more = functions.len().saturating_sub(MOST_FUNCTIONS);
        if more > 0 {
            texts.push(format!("and {more} more"));
        }
        texts
    }

    /// Which other events differ, and what stands in the way: `lfence +1`.
    fn remarks(&self) -> Vec<String> {
        let events = self.row.shown_events();
        let events = events.map(|it| format!("{} {}", clean(&it.event), signed(it.difference)));
        let reason = self.row.reason.iter().map(|reason| clean(reason));
        events.chain(reason).collect()
    }

    /// Why the gate fails: in which events, by how much, and by which rules.
    fn why(&self) -> String {
        let of_row = self.reasons.iter().filter(|reason| reason.row == self.row.path);
        of_row.map(|reason| clean(&reason.why)).collect::<Vec<_>>().join("; ")
    }

    /// What the budget's rules say where they are not simply kept, and do not fail the gate either.
    fn budget(&self) -> Vec<String> {
        let Some(budget) = self.budget else { return Vec::new() };
        let of_path = budget.rows.iter().filter(|rule| rule.path == self.row.path);
        let passing = of_path.filter(|rule| !rule.outcome.is_worse());
        passing.filter_map(|rule| crate::budget::sentence(rule, &budget.file)).collect()
    }

    /// All of it in one line, after the path's name.
    fn sentence(&self) -> String {
        let verdict = self.verdict();
        let change = Some(self.change()).filter(|text| !text.is_empty());
        let parts = std::iter::once(verdict).chain(change).chain(self.remarks());
        parts.chain(self.budget()).chain(self.functions()).collect::<Vec<_>>().join("; ")
    }

    /// Whether it is about numbers.
    fn has_numbers(&self) -> bool {
        self.row.unit != Unit::Check
    }
}

/// What was done, in the words of the command line.
fn title(judged: Judged<'_>) -> String {
    let (base, new) = (&judged.comparison.base, &judged.comparison.new);
    match judged.of {
        RowsOf::Two => format!("pathmeter compare {} {}", base.name, new.name),
        RowsOf::One => format!("pathmeter measure {}", new.name),
        RowsOf::Settings => format!("pathmeter settings {}", base.name),
    }
}

/// What both sides were measured with, in one line; a line for each side if that differs.
fn describe_measured_with(judged: Judged<'_>) -> Vec<String> {
    let lines = of_sides(&judged.comparison.base, &judged.comparison.new);
    lines.iter().map(|line| clean(line)).collect()
}

impl Judged<'_> {
    /// `43 paths`, `1 path`; what settings change are rows.
    fn paths(self, number: usize) -> String {
        let name = if self.of == RowsOf::Settings { "row" } else { "path" };
        plural(number, name)
    }

    /// Whether somebody asked what is worse.
    fn is_gated(self) -> bool {
        self.count(Outcome::Unasked) == 0
    }
}

/// The result in a line: how many paths are worse, missing, and all.
fn verdict(judged: Judged<'_>) -> String {
    let (worse, missing) = (judged.count(Outcome::Worse), judged.count(Outcome::Missing));
    let all = judged.paths(judged.outcomes.len());
    let paths = match (judged.is_gated(), worse + missing) {
        (true, _) => of_gate(&all, worse, missing),
        (false, 0) => all,
        (false, failed) => format!("{all}, {failed} failed"),
    };
    // Here without a word of the reasons: each format escapes these in its own way.
    match judged.beside_paths().count() {
        0 => paths,
        _ => format!("{paths}; the program ended differently"),
    }
}

fn of_gate(all: &str, worse: usize, missing: usize) -> String {
    let worse = match worse {
        0 => format!("none of {all} is worse"),
        1 => format!("1 of {all} is worse"),
        many => format!("{many} of {all} are worse"),
    };
    match missing {
        0 => worse,
        1 => format!("{worse}, 1 could not be compared"),
        many => format!("{worse}, {many} could not be compared"),
    }
}
