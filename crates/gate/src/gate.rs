//! `--check`: whether a comparison passes as a gate.
//!
//! Contract: what was not compared does not pass for unchanged. A path that BASE could run must be
//! compared, and so must one that `--only`, or a rule of a budget, names in full; a path that only
//! NEW can run is new, which a note tells. Where nothing was compared, nothing was checked.

use pathmeter_model::{
    BudgetOutcome, BudgetReport, BudgetRow, Comparison, GateReason, GateReport, Measurement,
    PathComparison, PathResult, ProgramComparison, Status, Summary, Unit, Verdict, gate_lines,
};
use pathmeter_report::{Outcome, budget_sentence};
use pathmeter_trace::Event;

use crate::budget::Sides;
use crate::budget_file::BudgetFile;
use crate::error::GateError;
use crate::event_gate::EventGate;

/// What is wanted of the paths.
pub struct Wanted<'a> {
    /// Whether the user named this path in full: such a path must be compared.
    pub is_named: &'a dyn Fn(&str) -> bool,
    /// The events that fail it.
    pub events: &'a EventGate,
    /// Of a program, whether only its regions and windows are judged without a rule.
    pub regions_only: bool,
    pub budget: Option<&'a BudgetFile>,
}

/// What a gate makes of a comparison.
pub struct Gate {
    /// For each path of the comparison.
    pub outcomes: Vec<Outcome>,
    /// What the budget's rules make of it, if there is one.
    pub budget: Option<BudgetReport>,
    /// Which paths are worse, in which event and by how much.
    worse: Vec<GateReason>,
    /// What had to be compared and was not, with the reason.
    missing: Vec<String>,
    /// Paths that only NEW can run.
    new: Vec<String>,
    compared: usize,
}

impl Gate {
    /// Judges the comparison of these two sides.
    pub fn new(comparison: &Comparison, sides: [&Measurement; 2], wanted: &Wanted<'_>) -> Self {
        let mut gate = Self {
            outcomes: Vec::new(),
            budget: None,
            worse: Vec::new(),
            missing: Vec::new(),
            new: Vec::new(),
            compared: count_compared_paths(comparison.summary),
        };
        let mut rules = Vec::new();
        for row in &comparison.paths {
            let (of_row, outcome) = gate.judge(row, sides, wanted);
            gate.outcomes.push(outcome);
            rules.extend(of_row);
        }
        let [base, new] = sides;
        if wanted.events.wants_events() {
            gate.missing.extend(uncounted(base.paths.iter().chain(&new.paths)));
            gate.missing
                .extend(wanted.events.named_events().filter_map(|it| not_compared(it, sides)));
            if base.unit() == Unit::Clock || new.unit() == Unit::Clock {
                gate.missing.push("any events (this QEMU takes no plugin)".to_owned());
            }
        }
        gate.budget = wanted.budget.map(|budget| budget.report(rules));
        if let Some(program) = comparison.program.as_ref().filter(|_| !wanted.regions_only) {
            gate.worse.splice(0..0, ended(program));
        }
        gate
    }

    /// The outcome of one path, and of the rules for it.
    fn judge(
        &mut self,
        row: &PathComparison,
        sides: [&Measurement; 2],
        wanted: &Wanted<'_>,
    ) -> (Vec<BudgetRow>, Outcome) {
        let judged = row.is_own_work() && !(wanted.regions_only && row.work.is_some());
        let why = |row: &PathComparison| if judged { wanted.events.why(row) } else { Vec::new() };
        let (rules, reasons) = judge(row, sides, wanted.budget, why);
        let worse = !reasons.is_empty();
        self.worse.extend(reasons);
        let reason = row.reason.as_deref().unwrap_or_default();
        let could = |side: &Measurement| {
            side.paths.iter().any(|path| path.path == row.path && path.status == Status::Ok)
        };
        let mut outcome = if worse { Outcome::Worse } else { Outcome::Passed };
        if row.verdict == Verdict::Unsupported {
            let must = could(sides[0]) || (wanted.is_named)(&row.path);
            outcome = match (worse, must) {
                (true, _) => Outcome::Worse,
                (false, true) => Outcome::Missing,
                (false, false) => Outcome::Skipped,
            };
            if must {
                self.missing.push(format!("{} ({reason})", row.path));
            } else if could(sides[1]) {
                self.new.push(row.path.clone());
            }
        }
        let unjudged = |rule: &&BudgetRow| rule.outcome == BudgetOutcome::NotJudged;
        for rule in rules.iter().filter(unjudged).filter(|_| outcome != Outcome::Missing) {
            let why = rule.reason.as_deref().unwrap_or_default();
            // A path that broke is worse.
            if row.verdict != Verdict::Broken {
                self.missing
                    .push(format!("{} with its budget of {} ({why})", row.path, rule.event));
            }
        }
        if outcome != Outcome::Worse && rules.iter().any(|rule| unjudged(&rule)) {
            outcome = Outcome::Missing;
        }
        (rules, outcome)
    }

    /// What the document has of it.
    pub fn report(&self) -> GateReport {
        GateReport { worse: self.worse.clone(), unjudged: self.missing.clone() }
    }

    pub fn is_worse(&self) -> bool {
        !self.worse.is_empty()
    }

    /// Why the gate fails, a line each.
    pub fn fails(&self) -> Vec<String> {
        gate_lines(&self.worse)
    }

    /// Paths that only NEW can run.
    pub fn new_paths(&self) -> &[String] {
        &self.new
    }

    /// What had to be compared and was not, if there is any; nothing compared is nothing checked.
    pub fn failure(&self) -> Option<GateError> {
        if !self.missing.is_empty() {
            let missing = self.missing.join(", ");
            return Some(GateError::Unchecked(format!("--check could not compare {missing}")));
        }
        let nothing = self.compared == 0 && !self.is_worse();
        let message = "--check: no path was compared, so nothing was checked";
        nothing.then(|| GateError::Unchecked(message.to_owned()))
    }
}

/// Why a program that ended differently is worse.
fn ended(program: &ProgramComparison) -> Option<GateReason> {
    let (base, new) = (program.base_ended, program.new_ended);
    let why = format!("it ended with {new}, and on BASE with {base}");
    let reason = GateReason { row: "program".to_owned(), why, ..GateReason::default() };
    (base != new).then_some(reason)
}

/// What a budget's rules make of a row, and why it fails: by what no rule is about, as `why` finds
/// it, and by the rules that are not kept.
pub fn judge(
    row: &PathComparison,
    sides: [&Measurement; 2],
    budget: Option<&BudgetFile>,
    why: impl Fn(&PathComparison) -> Vec<GateReason>,
) -> (Vec<BudgetRow>, Vec<GateReason>) {
    let Some(budget) = budget else { return (Vec::new(), why(row)) };
    let (rules, mut reasons) = budget.judge(row, Sides::of_paths(sides), why);
    let worse = rules.iter().filter(|rule| rule.outcome.is_worse());
    reasons.extend(worse.map(|rule| of_rule(rule, &budget.name())));
    (rules, reasons)
}

/// Why a rule, of the budget in `file`, that is not kept fails its row.
fn of_rule(rule: &BudgetRow, file: &str) -> GateReason {
    // The highest value, which is shown if it exceeds `max`, is not the one that was compared.
    let compared = rule.base.zip(rule.new).filter(|_| rule.is_of_pair());
    let difference = compared.map(|(base, new)| i128::from(new) - i128::from(base));
    GateReason {
        row: rule.path.clone(),
        event: Some(rule.event.clone()),
        base: rule.base,
        new: rule.new,
        difference: difference.and_then(|it| i64::try_from(it).ok()),
        max: rule.max,
        max_increase: rule.max_increase.clone(),
        line: Some(rule.line),
        why: budget_sentence(rule, file).unwrap_or_default(),
    }
}

/// Those of the paths that have samples in instructions, and no events.
fn uncounted<'a>(paths: impl Iterator<Item = &'a PathResult>) -> Vec<String> {
    let lacks = |path: &&PathResult| {
        path.status == Status::Ok && path.unit == Unit::Instructions && path.events.is_none()
    };
    let mut names: Vec<String> = Vec::new();
    for path in paths.filter(lacks) {
        let name = format!("{} (its events were not counted)", path.path);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Why an event that the user named is not compared in these results, if it is not.
fn not_compared(event: Event, sides: [&Measurement; 2]) -> Option<String> {
    let [base, new] = sides;
    if event.depends_on_qemu() && base.configuration.qemu != new.configuration.qemu {
        return Some(format!("{event} (two versions of QEMU count them differently)"));
    }
    if event.is_of_programs() {
        let lacks = !sides.iter().all(|side| side.counts_in_rows(event));
        let option = if event == Event::LineVisits { "; --lines counts them" } else { "" };
        let why = "only rows and regions of programs have such";
        return lacks.then(|| format!("{event} ({why}{option})"));
    }
    let lacks = |side: &&Measurement| {
        let counted = side.paths.iter().filter(|path| path.events.is_some());
        // Of rows it is known whose the instructions are.
        let mut rest = counted.filter(|path| path.work.is_none() || !is_retired(event));
        rest.any(|path| !side.has_counted(path, event))
    };
    let help = match event {
        Event::DataLines | Event::DataPages => "; --lines counts them",
        _ => "",
    };
    let of_programs = || format!("{event} (they were not counted of the program{help})");
    sides.iter().any(lacks).then(of_programs)
}

fn is_retired(event: Event) -> bool {
    matches!(event, Event::User | Event::Kernel)
}

/// Counts the paths whose verdict compares numbers: all but unsupported and broken ones.
fn count_compared_paths(summary: Summary) -> usize {
    let without = [Verdict::Unsupported, Verdict::Broken].map(|verdict| summary.count(verdict));
    summary.paths.saturating_sub(without.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_model::example;

    #[test]
    fn a_path_whose_events_one_side_lacks_is_named_once() {
        let path = |name| example::path(name, &[7]);
        let counted = example::counting(path("c.counted"), &[], &[]);
        let failed = example::failed("f.failed", "the guest panicked");
        let clock = PathResult::ok("s.softirq", Unit::Clock, &[vec![7]], vec![]);
        let base = vec![path("a.a"), counted.clone(), failed, clock];
        let new = vec![path("a.a"), path("c.counted")];
        let names = ["a.a", "c.counted"].map(|it| format!("{it} (its events were not counted)"));
        assert_eq!(uncounted([&base, &new].into_iter().flatten()), names);
        assert_eq!(uncounted([counted].iter()), [""; 0]);
    }
}
