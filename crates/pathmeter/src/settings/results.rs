//! What the settings of a kernel cost, on one CPU or on several.

use pathmeter_model::{SettingOutcome, SettingsResult};
use pathmeter_report::{Style, settings_tables};
use serde::Serialize;

use crate::failure::Exit;

/// A document for one CPU; for several a list of them, in the order in which they were named.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Results {
    One(Box<SettingsResult>),
    Several(Vec<SettingsResult>),
}

impl From<Vec<SettingsResult>> for Results {
    fn from(results: Vec<SettingsResult>) -> Self {
        match <[_; 1]>::try_from(results) {
            Ok([one]) => Self::One(Box::new(one)),
            Err(several) => Self::Several(several),
        }
    }
}

impl Results {
    fn all(&self) -> &[SettingsResult] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(several) => several,
        }
    }

    /// The tables of each.
    pub(super) fn tables(&self, style: Style) -> String {
        settings_tables(self.all(), style)
    }

    /// The settings that fail their gate, and in what.
    pub(super) fn failing(&self) -> Vec<String> {
        let rows = self.all().iter().flat_map(|result| &result.sets).flat_map(|set| &set.rows);
        let gates = rows.filter_map(|row| Some((row, row.gate.as_ref()?)));
        let failing = gates.filter(|(_, gate)| !gate.worse.is_empty());
        failing.map(|(row, gate)| format!("{} in {}", row.setting, gate.worse.join(", "))).collect()
    }

    /// Whether a setting fails its gate, or could not be measured.
    pub(super) fn exit(&self) -> Exit {
        let rows = || self.all().iter().flat_map(|result| &result.sets).flat_map(|set| &set.rows);
        let worse = rows().any(|row| row.gate.as_ref().is_some_and(|gate| !gate.worse.is_empty()));
        let failed = rows().any(|row| row.outcome == SettingOutcome::Failed);
        match (worse, failed) {
            (true, _) => Exit::Worse,
            (false, true) => Exit::Unmeasured,
            (false, false) => Exit::Done,
        }
    }
}
