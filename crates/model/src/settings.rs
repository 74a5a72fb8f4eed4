//! The document of a kernel's settings, `pathmeter.settings/1`: what each costs.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Comparison, Configuration, PathComparison, SideInfo, Verdict};

/// The name and version of the document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SettingsSchema {
    /// The only version so far.
    #[default]
    #[serde(rename = "pathmeter.settings/1")]
    V1,
}

/// What settings cost in one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsResult {
    /// Always `pathmeter.settings/1`.
    pub schema: SettingsSchema,
    /// The kernel under the default condition.
    pub base: SideInfo,
    /// All that its measurement depends on.
    pub configuration: Configuration,
    /// The sets, in the order in which they were named.
    pub sets: Vec<SettingsSet>,
    /// By how much paths differ though nothing was set that the kernel knows: smaller differences
    /// are layout, and no change. In instructions.
    pub layout: BTreeMap<String, u64>,
}

/// The settings of one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsSet {
    /// Its name, or its file.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// A row for each setting; the one that stands for all of them is first, if there is one.
    pub rows: Vec<SettingRow>,
    /// The differences of the parts together, against that of the setting that stands for all: of
    /// each path that this one changes.
    pub sums: Vec<PathSum>,
}

/// What became of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingOutcome {
    /// Paths changed.
    Changed,
    /// Nothing that was counted changed, layout apart.
    NoEffect,
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
    /// The condition.
    pub setting: String,
    /// Whether it stands for all the others of the set.
    pub all: bool,
    /// Where it is described.
    pub source: String,
    /// What became of it.
    pub outcome: SettingOutcome,
    /// Why there are no numbers.
    pub reason: Option<String>,
    /// Paths that were compared.
    pub compared: usize,
    /// Those that changed, the largest change in percent first.
    pub changed: Vec<SettingChange>,
    /// The median of all compared paths' differences, in percent of the default.
    pub median_percent: Option<f64>,
    /// Events that cost by themselves and differ, by their names: in how many paths, and by how
    /// much in most of them.
    pub events: Vec<EventSpread>,
    /// The function in which most of the largest change is, if that was asked for.
    pub function: Option<FunctionShare>,
}

/// A path that a setting changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingChange {
    /// The path.
    pub path: String,
    /// The verdict of `compare`.
    pub verdict: Verdict,
    /// Its value under the default, in instructions.
    pub base: Option<u64>,
    /// The difference, in instructions.
    pub difference: i64,
    /// The same in percent of `base`.
    pub percent: f64,
}

/// An event that differs in several paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventSpread {
    /// Its name (docs/events.md).
    pub event: String,
    /// In how many paths it differs.
    pub paths: usize,
    /// By how much in most of them.
    pub difference: i64,
}

/// A function that a difference is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionShare {
    /// Its name.
    pub name: String,
    /// The path.
    pub path: String,
    /// Its own instructions' difference.
    pub difference: i64,
    /// The whole path's.
    pub of: i64,
}

/// The parts of a set against the setting that stands for all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathSum {
    /// The path.
    pub path: String,
    /// The sum of the parts' differences, in instructions.
    pub parts: i64,
    /// The difference of the setting that stands for all.
    pub all: i64,
    /// What the parts do not explain: `all` − `parts`.
    pub left_over: i64,
}

/// Paths that changed by nothing but layout, from the comparison of the default with a setting that
/// no kernel knows.
pub fn layout_of(comparison: &Comparison) -> BTreeMap<String, u64> {
    let differs = comparison.paths.iter().filter_map(|path| {
        let difference = path.difference?.unsigned_abs();
        (difference > 0).then(|| (path.path.clone(), difference))
    });
    differs.collect()
}

impl SettingRow {
    /// A row without numbers.
    pub fn without(
        (setting, source): (String, String),
        outcome: SettingOutcome,
        reason: Option<String>,
    ) -> Self {
        Self {
            setting,
            all: false,
            source,
            outcome,
            reason,
            compared: 0,
            changed: Vec::new(),
            median_percent: None,
            events: Vec::new(),
            function: None,
        }
    }

    /// The row of a setting by its comparison with the default; what is no larger than `layout`'s
    /// difference of a path is no change.
    pub fn of(
        (setting, source): (String, String),
        comparison: &Comparison,
        layout: &BTreeMap<String, u64>,
    ) -> Self {
        let beyond = |path: &&PathComparison| {
            let own = layout.get(&path.path).copied().unwrap_or(0);
            path.difference.is_some_and(|difference| difference.unsigned_abs() > own)
                || path.verdict == Verdict::EventsDiffer && costs(path)
        };
        let judged =
            [Verdict::Higher, Verdict::Lower, Verdict::ModeAppeared, Verdict::EventsDiffer];
        let paths = comparison.paths.iter();
        let mut changed: Vec<SettingChange> = paths
            .clone()
            .filter(|path| judged.contains(&path.verdict))
            .filter(beyond)
            .map(SettingChange::of)
            .collect();
        changed.sort_by(|one, other| other.percent.abs().total_cmp(&one.percent.abs()));
        let compared: Vec<f64> = paths
            .clone()
            .filter(|path| path.verdict == Verdict::Same || judged.contains(&path.verdict))
            .map(|path| path.percent.unwrap_or(0.0))
            .collect();
        let broken = paths.clone().find(|path| path.verdict == Verdict::Broken);
        let outcome = match (broken, changed.is_empty()) {
            (Some(_), _) => SettingOutcome::Failed,
            (None, true) => SettingOutcome::NoEffect,
            (None, false) => SettingOutcome::Changed,
        };
        let reason = broken
            .map(|path| format!("{}: {}", path.path, path.reason.as_deref().unwrap_or_default()));
        Self {
            compared: compared.len(),
            median_percent: median(compared),
            events: spreads(comparison, &changed),
            changed,
            ..Self::without((setting, source), outcome, reason)
        }
    }
}

/// Whether an instruction or access differs that costs by itself, not only memory that is touched.
fn costs(path: &PathComparison) -> bool {
    path.events.iter().any(|event| event.role() == pathmeter_trace::Role::Cost && event.counts())
}

impl SettingChange {
    fn of(path: &PathComparison) -> Self {
        Self {
            path: path.path.clone(),
            verdict: path.verdict,
            base: path.base,
            difference: path.difference.unwrap_or(0),
            percent: path.percent.unwrap_or(0.0),
        }
    }
}

fn median(mut percents: Vec<f64>) -> Option<f64> {
    percents.sort_by(f64::total_cmp);
    percents.get(percents.len() / 2).copied()
}

/// The slow instructions that differ in the changed paths, those in most paths first.
fn spreads(comparison: &Comparison, changed: &[SettingChange]) -> Vec<EventSpread> {
    let is_slow = |name: &str| {
        matches!(pathmeter_trace::Event::named(name), Some(pathmeter_trace::Event::Slow(_)))
    };
    let mut by_event: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    let changed: Vec<&str> = changed.iter().map(|change| change.path.as_str()).collect();
    for path in comparison.paths.iter().filter(|path| changed.contains(&path.path.as_str())) {
        for event in path.events.iter().filter(|event| is_slow(&event.event)) {
            by_event.entry(&event.event).or_default().push(event.difference);
        }
    }
    let spread = |(event, differences): (&str, Vec<i64>)| EventSpread {
        event: event.to_owned(),
        paths: differences.len(),
        difference: most_frequent(&differences),
    };
    let mut spreads: Vec<EventSpread> = by_event.into_iter().map(spread).collect();
    spreads.sort_by_key(|spread| std::cmp::Reverse(spread.paths));
    spreads
}

/// The number that is there most often; of several the smallest.
fn most_frequent(numbers: &[i64]) -> i64 {
    let mut times: HashMap<i64, usize> = HashMap::new();
    for number in numbers {
        *times.entry(*number).or_default() += 1;
    }
    let most = times.into_iter().max_by_key(|&(number, times)| (times, -number.abs(), number));
    most.map_or(0, |(number, _)| number)
}

impl SettingsSet {
    /// A set with these rows.
    pub fn new(name: String, title: String, rows: Vec<SettingRow>) -> Self {
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
