//! The document of a kernel's settings, `pathmeter.settings/1`: what each costs.

mod price;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use pathmeter_seal::schema_name;
use pathmeter_trace::{Role, SettingProof, SettingState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    BudgetRow, Causes, Comparison, Configuration, EventComparison, GateReason, Measurement,
    PairsCompared, PathComparison, RowKind, SideInfo, Threshold, Verdict, compare,
};

pub use self::price::SettingPrice;

schema_name!(pub SettingsSchema = "pathmeter.settings/1");

/// What settings cost in one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsResult {
    pub schema: SettingsSchema,
    /// The kernel under the default condition.
    pub base: SideInfo,
    /// All that its measurement depends on.
    pub configuration: Configuration,
    /// The sets, in the order in which they were named.
    pub sets: Vec<SettingsSet>,
    /// The program that was run under each setting, and its arguments, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Vec<String>>,
}

impl SettingsResult {
    /// Whether its numbers fit each other.
    ///
    /// # Errors
    /// The setting or the path whose numbers don't.
    pub fn check(&self) -> Result<(), String> {
        let rows = || self.sets.iter().flat_map(|set| &set.rows);
        for row in rows() {
            let numbers =
                [row.changed.len(), row.events.iter().map(|it| it.paths).max().unwrap_or(0)];
            if numbers.into_iter().any(|number| number > row.compared) {
                return Err(format!("{}: more paths change than were compared", row.setting));
            }
        }
        if let Some(row) = rows().find(|row| !row.has_its_prices()) {
            return Err(format!("{}: a price is not what the difference comes to", row.setting));
        }
        let sums = self.sets.iter().flat_map(|set| &set.sums);
        let fits = |sum: &PathSum| sum.all.checked_sub(sum.parts) == Some(sum.left_over);
        match sums.into_iter().find(|sum| !fits(sum)) {
            Some(sum) => Err(format!("{}: the sum of the parts does not add up", sum.path)),
            None => Ok(()),
        }
    }
}

/// The settings of one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsSet {
    /// Its name, or its file.
    pub name: String,
    pub title: String,
    /// A row for each setting; the one that stands for all of them is first, if there is one, and
    /// the others follow by the size of their largest change.
    pub rows: Vec<SettingRow>,
    /// The differences of the parts together, against that of the setting that stands for all: of
    /// each path that this one changes.
    pub sums: Vec<PathSum>,
}

/// What became of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingOutcome {
    Changed,
    /// It took effect, and nothing that was counted changed.
    NoEffect,
    /// Nothing that was counted changed, and nothing shows whether it took effect.
    Unproved,
    /// The kernel does not know it.
    Unknown,
    /// A guest can't show what it costs; it was not measured.
    Unseen,
    /// The kernel knows it, and does not take the value.
    Refused,
    /// The kernel could not be measured with it.
    Failed,
}

/// One setting against the default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingRow {
    pub setting: String,
    /// Whether it stands for all the others of the set.
    pub all: bool,
    pub source: String,
    /// What it turns off, in words. The row is then the price of that, which is what the kernel
    /// costs more as it is than under the setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns_off: Option<String>,
    pub outcome: SettingOutcome,
    /// Why there are no numbers, or why it is not proved that it took effect.
    pub reason: Option<String>,
    /// What the kernel shows of its settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<SettingProof>,
    pub compared: usize,
    /// Those that changed, the largest change in percent first.
    pub changed: Vec<SettingChange>,
    /// The median of all compared paths' differences, in percent of the default.
    pub median_percent: Option<f64>,
    /// The median of all compared paths' prices of what it turns off, in percent of the kernel
    /// under the setting; left out of a setting that turns nothing off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_price_percent: Option<f64>,
    /// Events that cost by themselves and differ, by their names: in how many paths, and by how
    /// much in most of them.
    pub events: Vec<EventSpread>,
    /// The function in which most of the largest change is, if that was asked for.
    pub function: Option<FunctionShare>,
    /// Where the differences of all changed paths come from, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causes: Option<Causes>,
    /// What the setting costs the program, if one was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<SettingCost>,
    /// What a gate makes of it, with `--check`; null where there are no numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<SettingGate>,
}

/// What a gate makes of the paths that a setting changes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SettingGate {
    /// Why it fails, if it does; rows of the program are named `the program's ROW`.
    pub worse: Vec<GateReason>,
    /// What the budget's rules make of them; empty without a budget.
    pub rules: Vec<BudgetRow>,
}

/// What a setting costs a program: the rows of its own work together, in its later runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingCost {
    /// The verdict of `run` on two kernels.
    pub verdict: Verdict,
    pub base: u64,
    pub difference: i64,
    /// The same in percent of `base`.
    pub percent: f64,
    /// The price of what the setting turns off; left out if it turns nothing off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<SettingPrice>,
    /// The row that changes most, if one does.
    pub row: Option<RowShare>,
    /// The events of all own work that cost by themselves and differ: slow instructions, bytes of
    /// string instructions.
    #[serde(default)]
    pub events: Vec<EventChange>,
}

/// A row of a program that a difference is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowShare {
    pub name: String,
    pub difference: i64,
    /// The difference of what a call costs; null without calls.
    pub per_call_difference: Option<i64>,
}

/// A path that a setting changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingChange {
    pub path: String,
    pub verdict: Verdict,
    /// Its value under the default, in instructions.
    pub base: Option<u64>,
    pub difference: i64,
    /// The same in percent of `base`.
    pub percent: f64,
    /// The price of what the setting turns off; left out if it turns nothing off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<SettingPrice>,
    /// What the pairs of windows say of the path; null where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsCompared>,
    /// Events that cost by themselves and differ: slow instructions, bytes of string instructions.
    /// Where the difference is 0, they are the change.
    #[serde(default)]
    pub events: Vec<EventChange>,
}

/// An event of a path that a setting changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventChange {
    /// Its name (docs/reference/events.md).
    pub event: String,
    /// By how much it differs.
    pub difference: i64,
}

/// An event that differs in several paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventSpread {
    /// Its name (docs/reference/events.md).
    pub event: String,
    /// In how many paths it differs.
    pub paths: usize,
    /// The least of the differences.
    pub least: i64,
    pub most: i64,
}

/// A function that a difference is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionShare {
    pub name: String,
    pub path: String,
    pub difference: i64,
    pub of: i64,
}

/// The parts of a set against the setting that stands for all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathSum {
    pub path: String,
    /// The sum of the parts' differences, in instructions.
    pub parts: i64,
    /// The difference of the setting that stands for all.
    pub all: i64,
    /// What the parts do not explain: `all` − `parts`.
    pub left_over: i64,
}

impl SettingRow {
    /// The row of a setting with which the kernel was measured as `new`, and without which it was
    /// measured as `base`: what `compare` finds between the two. A path that executes as many
    /// instructions has changed only if an event differs that costs by itself, not if it touches
    /// other memory.
    pub fn compare(about: (String, String), [base, new]: [&Measurement; 2]) -> Self {
        let comparison = compare(base, new, Threshold::default());
        let paths = || comparison.paths.iter();
        let compared = paths().filter(|path| path.verdict == Verdict::Same || is_change(path));
        let compared: Vec<f64> = compared.map(|path| path.percent.unwrap_or(0.0)).collect();
        let changed = paths().filter(|path| is_change(path) && costs(path));
        let mut changed: Vec<SettingChange> = changed.map(SettingChange::from).collect();
        changed.sort_by(|one, other| other.percent.abs().total_cmp(&one.percent.abs()));
        let broken = paths().find(|path| path.verdict == Verdict::Broken);
        let outcome = match (broken, changed.is_empty()) {
            (Some(_), _) => SettingOutcome::Failed,
            (None, true) => SettingOutcome::NoEffect,
            (None, false) => SettingOutcome::Changed,
        };
        let reason = broken
            .map(|path| format!("{}: {}", path.path, path.reason.as_deref().unwrap_or_default()));
        Self {
            compared: compared.len(),
            median_percent: median_percent(compared),
            events: spreads(&changed),
            changed,
            ..Self::without(about, outcome, reason)
        }
    }
}

fn is_change(path: &PathComparison) -> bool {
    !matches!(path.verdict, Verdict::Same | Verdict::Unsupported | Verdict::Broken)
}

/// Whether a path differs in instructions, or in an event that costs by itself.
fn costs(path: &PathComparison) -> bool {
    path.verdict != Verdict::EventsDiffer || cost_events(path).next().is_some()
}

/// The events of a path that cost by themselves and differ.
fn cost_events(path: &PathComparison) -> impl Iterator<Item = &EventComparison> {
    path.events.iter().filter(|event| event.role() == Role::Cost)
}

impl SettingRow {
    /// A row without numbers, with its outcome and the reason.
    pub fn without(
        (setting, source): (String, String),
        outcome: SettingOutcome,
        reason: Option<String>,
    ) -> Self {
        Self {
            setting,
            all: false,
            source,
            turns_off: None,
            outcome,
            reason,
            proofs: Vec::new(),
            compared: 0,
            changed: Vec::new(),
            median_percent: None,
            median_price_percent: None,
            events: Vec::new(),
            function: None,
            causes: None,
            program: None,
            gate: None,
        }
    }

    /// The row with what the kernel shows of its settings. One that changed nothing had no effect
    /// only if it was in force.
    #[must_use]
    pub fn with_proofs(self, proofs: Vec<SettingProof>) -> Self {
        let unproved = proofs.iter().find(|it| it.state == SettingState::Unproved);
        let idle =
            proofs.first().filter(|_| proofs.iter().all(|it| it.state == SettingState::Moot));
        let (outcome, reason) = match (self.outcome, unproved, idle) {
            (SettingOutcome::NoEffect, Some(one), _) => {
                (SettingOutcome::Unproved, Some(one.shown.clone()))
            }
            (SettingOutcome::NoEffect, None, Some(one)) => {
                (SettingOutcome::Unseen, Some(format!("{}: another --cpu", one.shown)))
            }
            (outcome, ..) => (outcome, self.reason),
        };
        Self { outcome, reason, proofs, ..self }
    }

    /// The row with what the setting costs a program. It has an effect if it changes that.
    #[must_use]
    pub fn with_program(self, cost: SettingCost) -> Self {
        let outcome = match self.outcome {
            SettingOutcome::NoEffect | SettingOutcome::Unproved
                if cost.verdict != Verdict::Same =>
            {
                SettingOutcome::Changed
            }
            outcome => outcome,
        };
        let price = self.turns_off.as_ref().map(|_| SettingPrice::of(cost.base, cost.difference));
        Self { outcome, program: Some(SettingCost { price, ..cost }), ..self }
    }
}

impl SettingCost {
    /// What a comparison of the program under the default with that under the setting shows. None
    /// if it is no comparison of a program.
    pub fn of(comparison: &Comparison) -> Option<Self> {
        let kind = |row: &PathComparison| row.work.as_ref().map(|work| work.kind);
        let mut rows = comparison.paths.iter();
        let own = rows.find(|row| kind(row) == Some(RowKind::OwnWork))?;
        let size = |row: &&PathComparison| row.difference.unwrap_or(0).unsigned_abs();
        let changed = comparison.paths.iter().filter(|row| {
            kind(row).is_some_and(RowKind::is_own_work) && row.verdict != Verdict::Same
        });
        let row = changed.min_by_key(|row| Reverse(size(row))).map(|row| RowShare {
            name: row.path.clone(),
            difference: row.difference.unwrap_or(0),
            per_call_difference: row.work.as_ref().and_then(|work| work.per_call_difference),
        });
        Some(Self {
            verdict: own.verdict,
            base: own.base.unwrap_or(0),
            difference: own.difference.unwrap_or(0),
            percent: own.percent.unwrap_or(0.0),
            price: None,
            row,
            events: own.events.iter().filter(|event| event.moves_cost()).map(change_of).collect(),
        })
    }
}

fn change_of(event: &EventComparison) -> EventChange {
    EventChange { event: event.event.clone(), difference: event.difference }
}

impl From<&PathComparison> for SettingChange {
    fn from(path: &PathComparison) -> Self {
        Self {
            events: cost_events(path).map(change_of).collect(),
            path: path.path.clone(),
            verdict: path.verdict,
            base: path.base,
            difference: path.difference.unwrap_or(0),
            percent: path.percent.unwrap_or(0.0),
            price: None,
            pairs: path.pairs,
        }
    }
}

/// The median of shares in percent, of two in the middle the one nearer to 0. None without any.
pub fn median_percent(mut percents: Vec<f64>) -> Option<f64> {
    percents.sort_by(f64::total_cmp);
    let middle = percents.len() / 2;
    let upper = *percents.get(middle)?;
    let lower = percents[(percents.len() - 1) / 2];
    Some(if lower.abs() < upper.abs() { lower } else { upper })
}

/// The events that cost by themselves and differ in the changed paths, those in most paths first.
fn spreads(changed: &[SettingChange]) -> Vec<EventSpread> {
    let mut by_event: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for event in changed.iter().flat_map(|change| &change.events) {
        by_event.entry(&event.event).or_default().push(event.difference);
    }
    let spread = |(event, differences): (&str, Vec<i64>)| EventSpread {
        event: event.to_owned(),
        paths: differences.len(),
        least: differences.iter().copied().min().unwrap_or(0),
        most: differences.iter().copied().max().unwrap_or(0),
    };
    let mut spreads: Vec<EventSpread> = by_event.into_iter().map(spread).collect();
    spreads.sort_by_key(|spread| Reverse(spread.paths));
    spreads
}

impl SettingRow {
    /// The size of its largest change in percent, of a path or else of the program.
    fn size(&self) -> f64 {
        let path = self.changed.first().map(|change| change.cost().percent);
        let percent = path.or_else(|| self.program.as_ref().map(|cost| cost.cost().percent));
        percent.map_or(-1.0, f64::abs)
    }
}

impl SettingsSet {
    /// A set with these rows, in order of what they change; those that change nothing stay last, in
    /// the order that they have.
    pub fn new(name: String, title: String, mut rows: Vec<SettingRow>) -> Self {
        rows.sort_by(|one, other| {
            other.all.cmp(&one.all).then(other.size().total_cmp(&one.size()))
        });
        let all = rows.iter().find(|row| row.all);
        let of = |row: &SettingRow, path: &str| {
            row.changed.iter().find(|change| change.path == path).map_or(0, |it| it.difference)
        };
        let sum = |change: &SettingChange| {
            let parts = rows.iter().filter(|row| !row.all).map(|row| of(row, &change.path)).sum();
            let all = change.difference;
            PathSum { path: change.path.clone(), parts, all, left_over: all - parts }
        };
        let changed = all.into_iter().flat_map(|all| &all.changed);
        let sums = changed.filter(|change| change.difference != 0).map(sum).collect();
        Self { name, title, rows, sums }
    }
}
