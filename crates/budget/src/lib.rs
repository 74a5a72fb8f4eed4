//! Budgets: which numbers paths may have, as a file of the user's states it.
//!
//! Contract: a file is read strictly. What is misspelled, or holds for no path, is an error that
//! names its line: a budget that limits nothing must not pass for one that is kept. For each event
//! of a path one rule decides, the most specific: a name in full before any pattern, then the
//! pattern with more literal characters. Where two are equally specific, neither is chosen: that is
//! an error too. `docs/gates.md` describes the format.

mod date;
mod file;
mod judge;

pub use date::{Date, today};
pub use file::{BudgetError, MAX_BYTES, parse_budget};

use pathmeter_trace::Event;
use wildmatch::WildMatch;

/// What paths may cost, and what is accepted all the same.
#[derive(Clone, Debug)]
pub struct Budget {
    rules: Vec<Rule>,
    accepted: Vec<Acceptance>,
}

/// The limits of one event of the paths that match.
#[derive(Clone, Debug)]
struct Rule {
    paths: WildMatch,
    /// Line of the file, from 1.
    line: usize,
    /// `None` for the path's own numbers: its instructions, or steps of the clock.
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

/// Paths that may cost more for now.
#[derive(Clone, Debug)]
struct Acceptance {
    paths: WildMatch,
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

/// Whether the pattern is a path's name in full.
fn is_name(pattern: &WildMatch) -> bool {
    !pattern.pattern().contains(WILDCARDS)
}

/// Any text, and any character.
const WILDCARDS: [char; 2] = ['*', '?'];

impl Budget {
    /// Refuses what holds for none of `names`, and rules of which neither is more specific.
    ///
    /// # Errors
    /// The first of either.
    pub fn check(&self, names: &[&str]) -> Result<(), BudgetError> {
        self.check_matches(names, |_| false)?;
        names.iter().try_for_each(|name| self.check_ties(name))
    }

    /// Refuses what holds for none of `names`, unless `later` says that it may hold for a path that
    /// is not known yet.
    ///
    /// # Errors
    /// The first such pattern.
    pub fn check_matches(
        &self,
        names: &[&str],
        later: impl Fn(&str) -> bool,
    ) -> Result<(), BudgetError> {
        let rules = self.rules.iter().map(|rule| (&rule.paths, rule.line));
        let accepted = self.accepted.iter().map(|one| (&one.paths, one.line));
        let lost = |(paths, _): &(&WildMatch, usize)| {
            !later(&paths.pattern()) && !names.iter().any(|name| paths.matches(name))
        };
        match rules.chain(accepted).find(lost) {
            None => Ok(()),
            Some((paths, line)) => Err(BudgetError::new(
                line,
                format!("no path has the name {}", paths.pattern().escape_debug()),
            )),
        }
    }

    fn check_ties(&self, name: &str) -> Result<(), BudgetError> {
        for rule in self.matching(name) {
            let alike = |other: &&Rule| {
                other.line != rule.line
                    && other.event == rule.event
                    && specificity(&other.paths) == specificity(&rule.paths)
            };
            let Some(other) = self.matching(name).find(alike) else { continue };
            if self
                .rule(name, rule.event)
                .is_some_and(|best| specificity(&best.paths) > specificity(&rule.paths))
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
        self.rules.iter().filter(move |rule| rule.paths.matches(name))
    }

    /// The rule that decides about an event of a path.
    fn rule(&self, name: &str, event: Option<Event>) -> Option<&Rule> {
        let stated = self.matching(name).filter(|rule| rule.event == event);
        stated.max_by_key(|rule| specificity(&rule.paths))
    }

    /// The acceptance that holds for a path: of several the one that expires last.
    fn acceptance(&self, name: &str) -> Option<&Acceptance> {
        let matching = self.accepted.iter().filter(|one| one.paths.matches(name));
        matching.max_by_key(|one| one.expires)
    }

    /// What no longer holds today: the line, the paths, and the last day on which it did.
    pub fn expired(&self, today: Date) -> impl Iterator<Item = (usize, String, Date)> {
        let expired = self.accepted.iter().filter(move |one| one.expires < today);
        expired.map(|one| (one.line, one.paths.pattern(), one.expires))
    }
}
