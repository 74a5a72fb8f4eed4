//! The paths of a kernel in both interpreters.

mod outcome;
mod reconciliation;

use std::collections::HashMap;

use pathmeter_measure::error::MeasureError;
use pathmeter_probes::{Kind, Suite};
use pathmeter_report::Style;
use pathmeter_trace::Reconciled;

use crate::bochs::suite::witness_plan;
use crate::both::{Both, Show};
use crate::session;
use crate::table::{WitnessOutcome, WitnessRow, paths_table};
use outcome::outcome;
use reconciliation::{Differing, reconciliations};

/// Why a path is left out in both.
const REFUSED: &str = "left out: Bochs' CPU has AMD's syscall in 64-bit code only";

impl<S: Show> Both<'_, S> {
    /// The table of the paths, and whether the two agree on all of them, or differ only where the
    /// kernel decided differently.
    pub fn compare_paths(&self, style: Style) -> Result<(String, bool), MeasureError> {
        let rows = self.rows()?;
        Ok((paths_table(&rows, style), rows.iter().all(WitnessRow::agrees)))
    }

    /// A row for each path that has windows.
    fn rows(&self) -> Result<Vec<WitnessRow>, MeasureError> {
        let mut rows = self.outcomes()?;
        let differing = rows.iter().filter_map(|(index, row)| match row.outcome {
            WitnessOutcome::Both(counts) if !counts.agree() => {
                Some(Differing { index: *index, counts })
            }
            _ => None,
        });
        let differing: Vec<Differing> = differing.collect();
        let why = reconciliations(self, &differing)?;
        let mut why: HashMap<usize, Reconciled> =
            differing.iter().map(|one| one.index).zip(why).collect();
        for (index, row) in &mut rows {
            row.reconciled = why.remove(index);
        }
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// What came of each of these paths, by its index.
    fn outcomes(&self) -> Result<Vec<(usize, WitnessRow)>, MeasureError> {
        let Self { session, bochs, image, .. } = self;
        let (outcomes, counted) =
            self.during("in QEMU", |it| session::count(session, image, it))?;
        let seen = self.during("in Bochs", |it| session::witness(session, image, bochs, it))?;
        let plan = witness_plan(&session.settings_of(image));
        let paths = Suite::Exact.paths().iter().enumerate();
        let paths = paths.filter(|(_, path)| matches!(path.kind, Kind::Windows(_)));
        let row = |(index, path): (usize, &pathmeter_probes::Path)| {
            let outcome = if plan.skips(index) {
                WitnessOutcome::Not(REFUSED.to_owned())
            } else {
                let windows = counted.of_run(index, 0, &outcomes[index]);
                outcome(windows, &outcomes[index], &seen[index])
            };
            (index, WitnessRow { path: path.name.to_owned(), outcome, reconciled: None })
        };
        Ok(paths.map(row).collect())
    }
}
