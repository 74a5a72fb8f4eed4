//! One kernel under the conditions of settings: measured, compared with the default, explained.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pathmeter_measure::path::selection::Selection;
use pathmeter_measure::recording::RecordablePath;
use pathmeter_measure::session::Session;
use pathmeter_measure::session::cell::{self, CellProgram};
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::each;
use pathmeter_model::{
    FunctionShare, Measurement, SettingOutcome, SettingRow, SettingsResult, SettingsSchema,
    SettingsSet, SideInfo,
};
use pathmeter_trace::Explain;
use pathmeter_vm::{Condition, Unmet, UnmetCause, VmError};

use super::gate::SettingGates;
use super::set::{Entry, Set};
use crate::comparison::causes;
use crate::comparison::differences::differences;
use crate::failure::Failure;
use crate::screen::progress::Board;
use pathmeter_measure::error::MeasureError;

/// A guest's QEMU keeps to one CPU, and most machines have another.
pub(super) const AT_A_TIME: usize = 2;

/// What measures one kernel under conditions.
pub(super) struct Under<'a> {
    pub(super) session: &'a Session,
    pub(super) image: &'a Image,
    /// What it is always under.
    pub(super) common: &'a Condition,
    /// What is executed beside the paths.
    pub(super) program: Option<&'a CellProgram>,
    /// Whether it is found out which functions the changes are in.
    pub(super) explain: bool,
    /// What settings may cost, with `--check`.
    pub(super) gates: Option<&'a SettingGates>,
    /// Which paths are looked at.
    pub(super) selection: &'a Selection,
    pub(super) board: &'a Board,
}

/// What the rows are made against.
pub(super) struct Against {
    pub(super) paths: Measurement,
    pub(super) program: Option<Measurement>,
}

impl Under<'_> {
    /// The rows of all sets.
    pub(super) fn all(&self, sets: Vec<Set>) -> Result<SettingsResult, Failure> {
        let against = self.against()?;
        let entries: Vec<&Entry> = sets.iter().flat_map(Set::in_order).collect();
        let mut rows = self.rows(&entries, &against)?.into_iter();
        let of_set = |set: Set| {
            let count = set.in_order().count();
            let mut rows: Vec<SettingRow> = rows.by_ref().take(count).collect();
            if let (Some(first), true) = (rows.first_mut(), set.all.is_some()) {
                first.all = true;
            }
            SettingsSet::new(set.name, set.title, rows)
        };
        let base = against.paths;
        Ok(SettingsResult {
            schema: SettingsSchema::V1,
            sets: sets.into_iter().map(of_set).collect(),
            base: SideInfo::from(&base),
            configuration: base.configuration,
            program: self.program.map(|program| program.packed.command().to_vec()),
        })
    }

    /// The rows of all entries. A line tells how many are done, and how long the others will take.
    fn rows(&self, entries: &[&Entry], against: &Against) -> Result<Vec<SettingRow>, Failure> {
        let (line, done) = (self.board.line("settings".to_owned()), AtomicUsize::new(0));
        let started = Instant::now();
        let rows = each(entries, AT_A_TIME, |entry| {
            let row = self.row(entry, against);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            line.say(&tell_progress(done, entries.len(), started.elapsed()));
            row
        });
        rows.into_iter().collect()
    }

    /// The kernel under the default.
    pub(super) fn against(&self) -> Result<Against, Failure> {
        let (paths, program) = (self.measure(self.image, None)?, self.run(self.image)?);
        if let Some(gates) = &self.gates {
            gates.check(&paths, program.as_ref())?;
        }
        Ok(Against { paths, program })
    }

    fn row(&self, entry: &Entry, against: &Against) -> Result<SettingRow, Failure> {
        let about = || (entry.condition.to_string(), entry.source.clone());
        let turns_off = || entry.turns_off.clone();
        let without = |outcome, reason| {
            let row = SettingRow::without(about(), outcome, Some(reason));
            Ok(row.with_price_of(turns_off()))
        };
        if let Some(why) = &entry.unseen {
            return without(SettingOutcome::Unseen, why.clone());
        }
        let image = self.image_with(&entry.condition)?;
        let new = match self.measure(&image, None) {
            Ok(new) => new,
            Err(Failure::Measure(MeasureError::Kernel { error, .. })) => {
                let (outcome, reason) = obstacle(&error);
                return without(outcome, reason);
            }
            Err(failure) => return Err(failure),
        };
        let shown = self.selection.apply(new.clone());
        let row = SettingRow::compare(about(), [&against.paths, &shown]);
        // One that changed none of the paths that are shown may not have been in force.
        let row = row.with_proofs(new.configuration.proofs.clone()).with_price_of(turns_off());
        let gate = self.gates.as_ref().map(|gates| gates.judge(&row, &against.paths, &new));
        let row = SettingRow { gate, ..row };
        let row = if self.explain { self.explained(&image, row)? } else { row };
        match &against.program {
            Some(base) => self.beside_program(row, base, &image),
            None => Ok(row),
        }
    }

    /// The row with the function in which most of its largest change is, and the causes of all of
    /// its changes, as far as they can be recorded.
    fn explained(&self, image: &Image, row: SettingRow) -> Result<SettingRow, Failure> {
        let recordable = row.changed.iter().filter_map(|change| {
            let path = RecordablePath::find(&change.path).ok()?;
            Some(path.showing(change.pairs))
        });
        let paths: Vec<RecordablePath<'_>> = recordable.collect();
        if paths.is_empty() {
            return Ok(row);
        }
        let sides = [self.image, image];
        let explained = match differences(self.session, sides, &paths, self.board) {
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            explained => explained.unwrap_or_default(),
        };
        let explanations: Vec<Explain> = explained.into_iter().filter_map(Result::ok).collect();
        let causes = causes::of_explanations(&explanations, self.session, [self.image, image]);
        let differs = |explain: &&Explain| {
            row.changed.iter().any(|it| it.path == explain.path && it.difference != 0)
        };
        let function = explanations.iter().find(differs).and_then(most);
        Ok(SettingRow { function, causes: causes.ok(), ..row })
    }

    pub(super) fn image_with(&self, condition: &Condition) -> Result<Image, Failure> {
        let both = self.common.and(condition).map_err(|error| Failure::Usage {
            message: format!("--under and {condition}: {error}"),
            help: "leave one of them out".to_owned(),
        })?;
        Ok(self.image.clone().under(&both)?)
    }

    /// What the program costs on this kernel, if there is one.
    pub(super) fn run(&self, image: &Image) -> Result<Option<Measurement>, Failure> {
        self.program.map(|program| self.measure(image, Some(program))).transpose()
    }

    pub(super) fn measure(
        &self,
        image: &Image,
        program: Option<&CellProgram>,
    ) -> Result<Measurement, Failure> {
        let name = image.subject().name;
        Ok(self.board.during(name, |it| cell::measure(self.session, image, program, it))?)
    }
}

/// The function in which most of a difference is.
pub(super) fn most(explain: &Explain) -> Option<FunctionShare> {
    let difference = explain.difference.as_ref()?;
    let functions = difference.functions.iter();
    let most = functions.max_by_key(|function| function.difference.unsigned_abs())?;
    Some(FunctionShare {
        name: most.name.clone(),
        path: explain.path.clone(),
        difference: most.difference,
        of: difference.total,
    })
}

/// How many settings are done, and about how long the others will take if they take as long as
/// those did.
pub(super) fn tell_progress(done: usize, of: usize, took: Duration) -> String {
    let seconds = took.as_secs() * of.saturating_sub(done) as u64 / done.max(1) as u64;
    let time = estimate(seconds).map_or_else(String::new, |time| format!(", {time} more"));
    format!("{done} of {of} done{time}")
}

/// `about 40 seconds`, `about 3 minutes`; none for less than a second.
pub(super) fn estimate(seconds: u64) -> Option<String> {
    match seconds {
        0 => None,
        1 => Some("about 1 second".to_owned()),
        2..120 => Some(format!("about {seconds} seconds")),
        _ => Some(format!("about {} minutes", seconds.div_ceil(60))),
    }
}

/// What became of a setting with which the kernel could not be measured.
pub(super) fn obstacle(error: &VmError) -> (SettingOutcome, String) {
    match error {
        VmError::Unmet(unmet) => {
            let outcome = match unmet.first().map(|unmet| unmet.cause) {
                Some(UnmetCause::Unknown) => SettingOutcome::Unknown,
                Some(UnmetCause::Unseen) => SettingOutcome::Unseen,
                _ => SettingOutcome::Refused,
            };
            let help = |unmet: &Unmet| unmet.help.map_or(String::new(), |help| format!("; {help}"));
            let reason = match &unmet[..] {
                // The row has its name.
                [unmet] => unmet.what.clone() + &help(unmet),
                _ => error.to_string(),
            };
            (outcome, reason)
        }
        error => (SettingOutcome::Failed, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_how_long_the_others_will_take() {
        let told = |done, seconds| tell_progress(done, 12, Duration::from_secs(seconds));
        assert_eq!(told(2, 7), "2 of 12 done, about 35 seconds more");
        assert_eq!(told(11, 12), "11 of 12 done, about 1 second more");
        assert_eq!(told(1, 60), "1 of 12 done, about 11 minutes more");
        assert_eq!(told(12, 42), "12 of 12 done");
        assert_eq!(told(3, 0), "3 of 12 done", "those were in the cache");
    }
}
