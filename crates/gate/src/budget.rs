//! Budgets: which numbers paths may have, as a file of the user's states it.
//!
//! Contract: a file is read strictly. What is misspelled, or holds for no path, is an error that
//! names its line: a budget that limits nothing must not pass for one that is kept. For each event
//! of a path one rule decides, the most specific: a name in full before any pattern, then the
//! pattern with more literal characters. Where two are equally specific, neither is chosen: that is
//! an error too. `docs/guide/gates.md` describes the format.

mod date;
mod file;
mod judge;

pub use date::{Date, today};
pub use file::{BudgetError, MAX_BYTES, parse_budget};
pub use judge::Sides;

use pathmeter_model::{Measurement, PathComparison};
use pathmeter_trace::Event;
use wildmatch::WildMatch;

/// What paths and the rows of programs may cost, and what is accepted all the same.
#[derive(Clone, Debug)]
pub struct Budget {
    paths: Section,
    rows: Section,
}

/// The rules for paths, or those for rows.
#[derive(Clone, Debug)]
struct Section {
    /// What the patterns name: `path` or `row`.
    what: &'static str,
    rules: Vec<Rule>,
    accepted: Vec<Acceptance>,
}

/// The limits of one event of the paths that match, or of the rows that do.
#[derive(Clone, Debug)]
struct Rule {
    names: WildMatch,
    /// Line of the file, from 1.
    line: usize,
    /// `None` for the own numbers: instructions, or steps of the clock.
    event: Option<Event>,
    limits: Limits,
}

/// At least one of them is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    /// The largest value that NEW may have.
    max: Option<u64>,
    /// By how much more than BASE it may have.
    max_increase: Option<Increase>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Increase {
    Number(u64),
    /// Thousandths of a percent of BASE's value.
    Thousandths(u64),
}

/// Paths or rows that may cost more for now.
#[derive(Clone, Debug)]
struct Acceptance {
    names: WildMatch,
    /// Line of the file, from 1.
    line: usize,
    reason: String,
    /// The last day on which it holds.
    expires: Date,
}

/// How specific a pattern is: whether it has no wildcard, then its literal characters.
type Specificity = (bool, usize);

fn specificity(pattern: &WildMatch) -> Specificity {
    let text = pattern.pattern();
    let literal = text.chars().filter(|c| !WILDCARDS.contains(c)).count();
    (is_name(pattern), literal)
}

/// Whether the pattern is a name in full.
fn is_name(pattern: &WildMatch) -> bool {
    !pattern.pattern().contains(WILDCARDS)
}

/// Any text, and any character.
const WILDCARDS: [char; 2] = ['*', '?'];

impl Budget {
    /// Refuses what holds for none of the sides' paths or rows, and rules of which neither is more
    /// specific.
    ///
    /// # Errors
    /// The first of these.
    pub fn check(&self, sides: &[Measurement; 2]) -> Result<(), BudgetError> {
        let all = || sides.iter().flat_map(|side| &side.paths);
        let names = |rows: bool| {
            let those = all().filter(|path| path.work.is_some() == rows);
            those.map(|path| &*path.path).collect::<Vec<&str>>()
        };
        let (rows, paths) = (names(true), names(false));
        let has_rows = !rows.is_empty();
        if !has_rows {
            self.refuse_rows()?;
        }
        for (section, names) in [(&self.rows, rows), (&self.paths, paths)] {
            section.check_matches(&names, |_| false).map_err(|error| {
                let is_meant = section.what == "path" && has_rows;
                let hint = if is_meant { ": for the rows of a program use [rows]" } else { "" };
                BudgetError { what: error.what + hint, ..error }
            })?;
            section.check_ties(&names)?;
        }
        Ok(())
    }

    fn refuse_rows(&self) -> Result<(), BudgetError> {
        let Some((_, line)) = self.rows.patterns().next() else { return Ok(()) };
        let what = "rows are those of a program: keep their budget in a file of its own";
        Err(BudgetError::new(line, what.to_owned()))
    }

    /// The rules that are for rows like this one.
    fn section(&self, row: &PathComparison) -> &Section {
        if row.work.is_some() { &self.rows } else { &self.paths }
    }

    /// Refuses rules for rows, and what holds for none of these paths, unless `later` says that it
    /// may hold for a path that is not known yet.
    ///
    /// # Errors
    /// The first of these.
    pub fn check_matches(
        &self,
        names: &[&str],
        later: impl Fn(&str) -> bool,
    ) -> Result<(), BudgetError> {
        self.refuse_rows()?;
        self.paths.check_matches(names, later)
    }

    /// The line and the pattern of the first rule that needs something to compare with.
    pub fn increase(&self) -> Option<(usize, String)> {
        let mut rules = self.paths.rules.iter().chain(&self.rows.rules);
        let found = rules.find(|rule| rule.limits.max_increase.is_some())?;
        Some((found.line, found.names.pattern()))
    }

    /// What no longer holds today: the line, the paths or rows, and the last day on which it did.
    pub fn expired(&self, today: Date) -> impl Iterator<Item = (usize, String, Date)> {
        let accepted = self.paths.accepted.iter().chain(&self.rows.accepted);
        let expired = accepted.filter(move |one| one.expires < today);
        expired.map(|one| (one.line, one.names.pattern(), one.expires))
    }
}

impl Section {
    fn new(what: &'static str) -> Self {
        Self { what, rules: Vec::new(), accepted: Vec::new() }
    }

    /// The patterns of all rules and acceptances, with their lines.
    fn patterns(&self) -> impl Iterator<Item = (&WildMatch, usize)> {
        let rules = self.rules.iter().map(|rule| (&rule.names, rule.line));
        rules.chain(self.accepted.iter().map(|one| (&one.names, one.line)))
    }

    fn check_matches(
        &self,
        names: &[&str],
        later: impl Fn(&str) -> bool,
    ) -> Result<(), BudgetError> {
        let lost = |(pattern, _): &(&WildMatch, usize)| {
            !later(&pattern.pattern()) && !names.iter().any(|name| pattern.matches(name))
        };
        match self.patterns().find(lost) {
            None => Ok(()),
            Some((pattern, line)) => Err(BudgetError::new(
                line,
                format!("no {} has the name {}", self.what, pattern.pattern().escape_debug()),
            )),
        }
    }

    fn check_ties(&self, names: &[&str]) -> Result<(), BudgetError> {
        names.iter().try_for_each(|name| self.check_ties_for(name))
    }

    fn check_ties_for(&self, name: &str) -> Result<(), BudgetError> {
        for rule in self.matching(name) {
            let alike = |other: &&Rule| {
                other.line != rule.line
                    && other.event == rule.event
                    && specificity(&other.names) == specificity(&rule.names)
            };
            let Some(other) = self.matching(name).find(alike) else { continue };
            if self
                .rule(name, rule.event)
                .is_some_and(|best| specificity(&best.names) > specificity(&rule.names))
            {
                continue;
            }
            let (line, other_line) = (rule.line.max(other.line), rule.line.min(other.line));
            return Err(BudgetError::new(
                line,
                format!("for {name} this is as specific as the rule of line {other_line}"),
            ));
        }
        Ok(())
    }

    fn matching(&self, name: &str) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.names.matches(name))
    }

    /// The rule that decides about an event of a path or row.
    fn rule(&self, name: &str, event: Option<Event>) -> Option<&Rule> {
        let stated = self.matching(name).filter(|rule| rule.event == event);
        stated.max_by_key(|rule| specificity(&rule.names))
    }

    /// The acceptance that holds for a name: of several the one that expires last.
    fn acceptance(&self, name: &str) -> Option<&Acceptance> {
        let matching = self.accepted.iter().filter(|one| one.names.matches(name));
        matching.max_by_key(|one| one.expires)
    }
}
