//! What the settings of a kernel cost, on one CPU or on several.

use crate::failure::Exit;
use pathmeter_model::{SettingOutcome, SettingRow, SettingsResult, gate_lines};
use pathmeter_report::{Rows, Style, settings_tables};
use serde::Serialize;

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
    pub(super) fn all(&self) -> &[SettingsResult] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(several) => several,
        }
    }

    /// The tables of each result, in their order.
    pub(super) fn tables(&self, shown: Rows, style: Style) -> String {
        settings_tables(self.all(), shown, style)
    }

    /// Why settings fail their gate: a line for each path or row in which one does.
    pub(super) fn failing(&self) -> Vec<String> {
        let rows = self.all().iter().flat_map(|result| &result.sets).flat_map(|set| &set.rows);
        let of = |row: &SettingRow| {
            let reasons = row.gate.as_ref().map_or(&[][..], |gate| &gate.worse);
            let line = |line| format!("{}: {line}", row.setting);
            gate_lines(reasons).into_iter().map(line).collect::<Vec<_>>()
        };
        rows.flat_map(of).collect()
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
