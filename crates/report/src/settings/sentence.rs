//! The answer of `settings` in a sentence: what costs most, how much, and in the median.

use pathmeter_model::{SettingOutcome, SettingRow, SettingsResult};

use super::{by_how_much, of_median};
use crate::measured_with::cpu_name;
use crate::number::{percent, plural};

/// `9 of 15 settings change what 6.1.0 executes on skylake. Price of all mitigations: +65
/// instructions (+18.57 %) on getppid-int80, median +1.30 %. Largest single price: …`.
pub(crate) fn sentence(result: &SettingsResult) -> String {
    let rows = || result.sets.iter().flat_map(|set| &set.rows);
    let name = result.base.release.as_ref().unwrap_or(&result.base.name);
    let changed = || rows().filter(|row| row.outcome == SettingOutcome::Changed);
    let of = format!("{} of {}", changed().count(), plural(rows().count(), "setting"));
    let all = changed()
        .find(|row| row.all)
        .and_then(|row| tell_price(&format!("Price of {}", row.name_priced()), row));
    let single = changed().filter(|row| !row.all);
    let most = single.max_by(|one, other| size(one).total_cmp(&size(other)));
    let ties = |most: &SettingRow| -> Vec<String> {
        let is_tie = |row: &&SettingRow| {
            row.setting != most.setting && size(row).total_cmp(&size(most)).is_eq()
        };
        let ties = changed().filter(|row| !row.all).filter(is_tie);
        ties.map(|row| row.name_priced().to_owned()).collect()
    };
    let most = most.and_then(|row| {
        let others = match &ties(row)[..] {
            [] => String::new(),
            [other] => format!(" and of {other}"),
            others => format!(" and of {}", plural(others.len(), "other")),
        };
        tell_price(&format!("Largest single price, of {}{others}", row.name_priced()), row)
    });
    let cpu = cpu_name(&result.configuration.cpu);
    let change = if changed().count() == 1 { "changes" } else { "change" };
    let first = format!("{of} {change} what {name} executes on {cpu}.");
    [Some(first), all, most, describe_unmeasured(result)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// `8 can't be measured here: --all names them, and why.` of settings without an answer; None
/// without any.
fn describe_unmeasured(result: &SettingsResult) -> Option<String> {
    use SettingOutcome::{Failed, Refused, Unknown, Unseen};
    let is_open = |row: &&SettingRow| matches!(row.outcome, Failed | Refused | Unknown | Unseen);
    let open: Vec<&SettingRow> =
        result.sets.iter().flat_map(|set| &set.rows).filter(is_open).collect();
    match open.len() {
        0 => None,
        many if open.iter().all(|row| row.outcome == Unseen) && many > 1 => {
            Some(format!("{many} can't be measured here: --all names them, and why."))
        }
        many => Some(format!("{many} can't be measured here, as is said below.")),
    }
}

/// `Price of all mitigations: +65 instructions (+18.57 %) on getppid-int80, median +1.30 %.`; none
/// without a path.
fn tell_price(head: &str, row: &SettingRow) -> Option<String> {
    let largest = row.changed.first()?;
    let part = percent(largest.cost().percent);
    let by = by_how_much(largest);
    let by = if part.is_empty() { by } else { format!("{by} instructions ({part})") };
    // The median of one path is its price.
    let median = row.median_cost().filter(|_| row.compared > 1);
    let median = median.map(|it| format!(", median {}", of_median(it)));
    let median = median.unwrap_or_default();
    Some(format!("{head}: {by} on {}{median}.", largest.path))
}

fn size(row: &SettingRow) -> f64 {
    row.changed.first().map_or(-1.0, |change| change.cost().percent.abs())
}
