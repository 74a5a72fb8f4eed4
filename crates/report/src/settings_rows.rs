//! What settings change, as the rows of a comparison of the default with each of them: so every
//! format that has rows has those of settings.
//!
//! A row is `SETTING: PATH`. A setting that changes nothing, or has no numbers, is a row by itself.

use std::collections::BTreeSet;

use pathmeter_model::{
    Comparison, ComparisonSchema, GateReason, GateReport, PathComparison, SettingChange,
    SettingCost, SettingOutcome, SettingPrice, SettingRow, SettingsResult, SideInfo, Summary, Unit,
    Verdict,
};

use crate::causes::AreaSums;
use crate::format::{Judged, Outcome, RowsOf};
use crate::number::{percent, signed};
use crate::settings::{by_how_much, changes, share_of_row};

/// Begins the row of a program in the reasons of a setting's gate.
const PROGRAM: &str = "the program";

/// The rows of all settings, with what a gate makes of them.
#[derive(Debug)]
pub struct SettingsRows {
    comparison: Comparison,
    outcomes: Vec<Outcome>,
    gate: GateReport,
}

impl SettingsRows {
    /// Those of one kernel on each of several CPUs, of which there is at least one.
    pub fn of(results: &[SettingsResult]) -> Option<Self> {
        let mut base = results.first()?.base.clone();
        if results.len() > 1 {
            base.measured_with = None;
        }
        let new = SideInfo { name: format!("{}, under each setting", base.name), ..base.clone() };
        let comparison = Comparison {
            threshold_percent: None,
            schema: ComparisonSchema::V1,
            base,
            new,
            summary: Summary::default(),
            paths: Vec::new(),
            program: None,
            configuration_differences: Vec::new(),
            budget: None,
            gate: None,
            options: None,
            compilers: None,
            processes: Vec::new(),
            causes: None,
        };
        let mut this = Self { comparison, outcomes: Vec::new(), gate: GateReport::default() };
        // A setting may be in several sets.
        let mut names = BTreeSet::new();
        for result in results {
            let kernel = format!("{}: ", result.base.name);
            let kernel = if results.len() > 1 { &*kernel } else { "" };
            for row in result.sets.iter().flat_map(|set| &set.rows) {
                let name = format!("{kernel}{}", row.setting);
                if names.insert(name.clone()) {
                    this.add(row, &name);
                }
            }
        }
        this.comparison.summary = Summary::of(this.comparison.paths.iter());
        Some(this)
    }

    /// Adds the rows of a setting.
    fn add(&mut self, row: &SettingRow, name: &str) {
        let worse = reasons(row, name);
        for path in of_setting(row, name) {
            self.outcomes.push(outcome(row, &path, &worse));
            self.comparison.paths.push(path);
        }
        self.gate.worse.extend(worse);
    }

    /// The same, to be put in a format.
    pub fn judged(&self) -> Judged<'_> {
        let Self { comparison, outcomes, gate } = self;
        let (of, sums) = (RowsOf::Settings, AreaSums::Hidden);
        Judged { of, comparison, outcomes, gate, explanations: &[], sums }
    }
}

/// Why a setting fails its gate; all rows of the program are one here.
fn reasons(row: &SettingRow, name: &str) -> Vec<GateReason> {
    let reasons = row.gate.iter().flat_map(|gate| gate.worse.clone());
    reasons
        .map(|reason| match reason.row.strip_prefix(PROGRAM) {
            Some(rest) => {
                let of = rest.trim_start_matches("'s ");
                let why = format!("{of}: {}", reason.why);
                GateReason { row: format!("{name}: {PROGRAM}"), why, ..reason }
            }
            None => GateReason { row: format!("{name}: {}", reason.row), ..reason },
        })
        .collect()
}

fn of_setting(row: &SettingRow, name: &str) -> Vec<PathComparison> {
    let off = row.turns_off.as_deref();
    let paths = row.changed.iter().map(|change| of_change(change, name, off));
    let program = row.program.iter().map(|cost| of_program(cost, name, off));
    let rows: Vec<PathComparison> = paths.chain(program).collect();
    if row.outcome == SettingOutcome::Changed && !rows.is_empty() {
        return rows;
    }
    let verdict = match row.outcome {
        SettingOutcome::Failed => Verdict::Broken,
        SettingOutcome::Unknown | SettingOutcome::Unseen | SettingOutcome::Refused => {
            Verdict::Unsupported
        }
        SettingOutcome::Changed | SettingOutcome::NoEffect | SettingOutcome::Unproved => {
            Verdict::Same
        }
    };
    let alone = PathComparison { reason: row.reason.clone(), ..without_numbers(name, verdict) };
    std::iter::once(alone).chain(rows).collect()
}

/// The row of a path under a setting, of what that turns `off` with the price.
fn of_change(change: &SettingChange, name: &str, off: Option<&str>) -> PathComparison {
    let name = format!("{name}: {}", change.path);
    let events = Some(changes(&change.events, 1)).filter(|events| !events.is_empty());
    let price = off.map(|off| tell_price(off, &by_how_much(change), change.cost()));
    PathComparison {
        percent: Some(change.percent),
        reason: join(events.into_iter().chain(price)),
        ..with_numbers(&name, change.verdict, (change.base, change.difference))
    }
}

/// What a setting costs the program, and in which row most; of what that turns `off` the price.
fn of_program(cost: &SettingCost, name: &str, off: Option<&str>) -> PathComparison {
    let name = format!("{name}: {PROGRAM}");
    let row = cost.row.iter().map(|row| format!("most in {}", share_of_row(row, 1)));
    let events = Some(changes(&cost.events, 1)).filter(|events| !events.is_empty());
    let price = off.map(|off| tell_price(off, &signed(cost.cost().difference), cost.cost()));
    PathComparison {
        percent: Some(cost.percent),
        reason: join(row.chain(events).chain(price)),
        ..with_numbers(&name, cost.verdict, (Some(cost.base), cost.difference))
    }
}

/// `price of page table isolation: +8 (+2.80 %)`.
fn tell_price(of: &str, by: &str, price: SettingPrice) -> String {
    let part = percent(price.percent);
    let part = if part.is_empty() { part } else { format!(" ({part})") };
    format!("price of {of}: {by}{part}")
}

fn join(remarks: impl Iterator<Item = String>) -> Option<String> {
    let remarks: Vec<String> = remarks.collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

fn with_numbers(
    name: &str,
    verdict: Verdict,
    (base, difference): (Option<u64>, i64),
) -> PathComparison {
    PathComparison {
        unit: Unit::Instructions,
        base,
        new: base.map(|base| base.saturating_add_signed(difference)),
        difference: Some(difference),
        ..without_numbers(name, verdict)
    }
}

fn without_numbers(name: &str, verdict: Verdict) -> PathComparison {
    PathComparison {
        path: name.to_owned(),
        unit: Unit::Check,
        base: None,
        new: None,
        base_at_least: false,
        new_at_least: false,
        difference: None,
        percent: None,
        verdict,
        reason: None,
        base_values: 0,
        new_values: 0,
        events: Vec::new(),
        moved: None,
        pairs: None,
        work: None,
        functions: Vec::new(),
    }
}

fn outcome(row: &SettingRow, path: &PathComparison, worse: &[GateReason]) -> Outcome {
    match (path.verdict, &row.gate) {
        (Verdict::Broken, _) => Outcome::Missing,
        (Verdict::Unsupported, _) => Outcome::Skipped,
        _ if worse.iter().any(|reason| reason.row == path.path) => Outcome::Worse,
        (_, Some(_)) => Outcome::Passed,
        (_, None) => Outcome::Unasked,
    }
}
