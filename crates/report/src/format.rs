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
use std::str::FromStr;

use pathmeter_model::{
    BudgetRow, Comparison, GateReason, GateReport, PathComparison, Unit, Verdict, clean,
};
use pathmeter_trace::Explain;

use crate::measured_with::of_sides;
use crate::number::{at_least, percent, signed, unit_word};

/// Most functions that are named for a path.
const MOST_FUNCTIONS: usize = 5;

/// A format that a comparison can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Plain text for a mail, in the manner of reports on kernel lists.
    Text,
    /// Markdown for the summary of a CI job or a comment, as GitHub and GitLab render it.
    Markdown,
    /// `JUnit`'s XML, a test case a path.
    Junit,
    /// KTAP version 1, a test a path.
    Ktap,
    /// Comma-separated values (RFC 4180), a row for each path and each event that differs.
    Csv,
    /// `OpenMetrics` 1.0.
    OpenMetrics,
    /// What github-action-benchmark calls `customSmallerIsBetter`.
    GithubActionBenchmark,
    /// Bencher's Metric Format.
    Bencher,
}

/// What becomes of a path at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// NEW is worse.
    Worse,
    /// It had to be compared, and was not.
    Missing,
    /// Nothing is wrong.
    Passed,
    /// Neither side, or only NEW, can run it.
    Skipped,
}

/// A comparison, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// The outcome of each of its paths, in its order.
    pub outcomes: &'a [Outcome],
    /// Why paths are worse, and what could not be compared.
    pub gate: &'a GateReport,
    /// Where the differences are, of those paths that were explained.
    pub explanations: &'a [Explain],
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 8] = [
        Self::Text,
        Self::Markdown,
        Self::Junit,
        Self::Ktap,
        Self::Csv,
        Self::OpenMetrics,
        Self::GithubActionBenchmark,
        Self::Bencher,
    ];

    /// The name by which users ask for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Junit => "junit",
            Self::Ktap => "ktap",
            Self::Csv => "csv",
            Self::OpenMetrics => "openmetrics",
            Self::GithubActionBenchmark => "github-action-benchmark",
            Self::Bencher => "bencher",
        }
    }

    /// The comparison in this format.
    pub fn render(self, judged: Judged<'_>) -> String {
        match self {
            Self::Text => text::text(judged),
            Self::Markdown => markdown::markdown(judged),
            Self::Junit => junit::junit(judged),
            Self::Ktap => ktap::ktap(judged),
            Self::Csv => csv::csv(judged),
            Self::OpenMetrics => openmetrics::openmetrics(judged),
            Self::GithubActionBenchmark => github_benchmark::benchmarks(judged),
            Self::Bencher => bencher::metrics(judged),
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|format| format.word() == word);
        known.ok_or_else(|| {
            let words: Vec<_> = Self::ALL.into_iter().map(Self::word).collect();
            format!("{word} is no format; there are {}", words.join(", "))
        })
    }
}

/// A path of a comparison, with what is known of it.
#[derive(Clone, Copy)]
struct Line<'a> {
    row: &'a PathComparison,
    outcome: Outcome,
    explain: Option<&'a Explain>,
    rules: &'a [BudgetRow],
    reasons: &'a [GateReason],
}

impl<'a> Judged<'a> {
    /// The paths, in the comparison's order.
    fn lines(self) -> impl Iterator<Item = Line<'a>> {
        let rules = self.comparison.budget.as_ref().map_or(&[][..], |budget| &budget.rows);
        let rows = self.comparison.paths.iter().zip(self.outcomes);
        rows.map(move |(row, &outcome)| Line {
            row,
            outcome,
            explain: self.explanations.iter().find(|explain| explain.path == row.path),
            rules,
            reasons: &self.gate.worse,
        })
    }

    /// Why the gate fails though no path is worse: a program ended differently.
    fn beside_paths(self) -> impl Iterator<Item = &'a GateReason> {
        let is_path = move |row: &str| self.comparison.paths.iter().any(|path| path.path == row);
        self.gate.worse.iter().filter(move |reason| !is_path(&reason.row))
    }

    /// Whether the gate fails.
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
            (
                _,
                Verdict::Higher
                | Verdict::ModeAppeared
                | Verdict::LongerTail
                | Verdict::EventsDiffer,
            ) => 3,
            (_, Verdict::Lower | Verdict::ShorterTail) => 4,
            (Outcome::Passed, _) => 5,
            (Outcome::Skipped, _) => 6,
        }
    }

    /// Whether it is worth a reader's time.
    fn is_notable(&self) -> bool {
        self.badness() < 5
    }

    /// `3,300 -> 3,333 instructions (+33, +1.00 %)`; empty without numbers.
    fn change(&self) -> String {
        let row = self.row;
        let (Some(base), Some(new)) = (row.base, row.new) else { return String::new() };
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
        let functions = &self.row.functions;
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
        let of_path = self.rules.iter().filter(|rule| rule.path == self.row.path);
        let passing = of_path.filter(|rule| !rule.outcome.is_worse());
        passing.filter_map(crate::budget::sentence).collect()
    }

    /// All of it in one line, after the path's name.
    fn sentence(&self) -> String {
        let verdict = self.row.verdict.to_string();
        let change = Some(self.change()).filter(|text| !text.is_empty());
        let parts = std::iter::once(verdict).chain(change).chain(self.remarks());
        parts.chain(self.budget()).chain(self.functions()).collect::<Vec<_>>().join("; ")
    }

    /// Whether it is about numbers.
    fn has_numbers(&self) -> bool {
        self.row.unit != Unit::Check
    }
}

/// What the two sides were measured with, a line or two.
fn measured(judged: Judged<'_>) -> Vec<String> {
    let lines = of_sides(&judged.comparison.base, &judged.comparison.new);
    lines.iter().map(|line| clean(line)).collect()
}

/// `33 of 43 paths`, `1 path`.
fn paths(number: usize) -> String {
    format!("{number} {}", if number == 1 { "path" } else { "paths" })
}

/// The result in a line: how many paths are worse, missing, and all.
fn verdict(judged: Judged<'_>) -> String {
    let (worse, missing) = (judged.count(Outcome::Worse), judged.count(Outcome::Missing));
    let all = paths(judged.outcomes.len());
    let worse = match worse {
        0 => format!("none of {all} is worse"),
        1 => format!("1 of {all} is worse"),
        many => format!("{many} of {all} are worse"),
    };
    let paths = match missing {
        0 => worse,
        1 => format!("{worse}, 1 could not be compared"),
        many => format!("{worse}, {many} could not be compared"),
    };
    // Here without a word of the reasons: each format escapes these in its own way.
    match judged.beside_paths().count() {
        0 => paths,
        _ => format!("{paths}; the program ended differently"),
    }
}
