//! `pathmeter settings`: what each setting of a set costs one kernel, against the default.

mod set;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pathmeter_model::{
    Comparison, FunctionShare, Measurement, SettingOutcome, SettingRow, SettingsResult,
    SettingsSchema, SettingsSet, SideInfo, Threshold, compare, layout_of,
};
use pathmeter_report::settings_table;
use pathmeter_vm::{Condition, Unmet, UnmetCause, VmError};

use self::set::{Entry, Set};
use crate::cli::SettingsArgs;
use crate::explain;
use crate::failure::{Exit, Failure};
use crate::image::Image;
use crate::interrupt;
use crate::output::Screen;
use crate::progress::Board;
use crate::recording::{RecordablePath, only};
use crate::session::Session;
use crate::setup;
use crate::subject;
use crate::threads::at_once;

/// A parameter that every kernel takes and none has: what differs with it is layout. Kernels say
/// nothing of unknown parameters of their modules, and do not hand them to the agent.
const WITHOUT_MEANING: &str = "boot:printk.pathmeter=1";

/// Measures the kernel under each setting, and puts out what they cost.
pub(crate) fn run(args: &SettingsArgs, screen: &Screen) -> Result<Exit, Failure> {
    args.guest.refuse_pairs()?;
    subject::refuse_results([&args.kernel])?;
    let sets = args.set.iter().map(|name| Set::open(name)).collect::<Result<Vec<_>, _>>()?;
    let [file] = args.document.named(&[&args.kernel]).open(screen)?;
    let (session, images) = setup::prepare(&args.guest, interrupt::listen(), &[&args.kernel])?;
    let common = args.guest.condition().cloned().unwrap_or_default();
    let board = Board::new(screen);
    let under = Under { session: &session, image: &images[0], common, board: &board };
    let result = under.all(sets, args.explain)?;
    screen.deliver(&args.document, file.as_ref(), &result, settings_table)?;
    let mut rows = result.sets.iter().flat_map(|set| &set.rows);
    let failed = rows.any(|row| row.outcome == SettingOutcome::Failed);
    Ok(if failed { Exit::Unmeasured } else { Exit::Done })
}

/// What measures one kernel under conditions.
struct Under<'a> {
    session: &'a Session,
    image: &'a Image,
    /// What it is always under.
    common: Condition,
    board: &'a Board,
}

impl Under<'_> {
    fn all(&self, sets: Vec<Set>, explain: bool) -> Result<SettingsResult, Failure> {
        let neutral = Condition::parse(WITHOUT_MEANING, |name| Err(name.to_owned()));
        let neutral = self.image_with(&neutral.unwrap_or_default())?;
        let (base, neutral) = at_once(|| self.measure(self.image), || self.measure(&neutral));
        let base = base?;
        let layout = layout_of(&compared(&base, &neutral?));
        let entries: Vec<&Entry> = sets.iter().flat_map(in_order).collect();
        let rows = self.rows(&entries, &base, &layout, explain)?;
        let mut rows = rows.into_iter();
        let of_set = |set: Set| {
            let count = in_order(&set).count();
            let mut rows: Vec<SettingRow> = rows.by_ref().take(count).collect();
            if let (Some(first), true) = (rows.first_mut(), set.all.is_some()) {
                first.all = true;
            }
            SettingsSet::new(set.name, set.title, rows)
        };
        Ok(SettingsResult {
            schema: SettingsSchema::V1,
            sets: sets.into_iter().map(of_set).collect(),
            base: SideInfo::from(&base),
            configuration: base.configuration,
            layout,
        })
    }

    /// A row for each, two at a time.
    fn rows(
        &self,
        entries: &[&Entry],
        base: &Measurement,
        layout: &BTreeMap<String, u64>,
        explain: bool,
    ) -> Result<Vec<SettingRow>, Failure> {
        let next = AtomicUsize::new(0);
        let rows: Mutex<BTreeMap<usize, SettingRow>> = Mutex::default();
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(entry) = entries.get(at) else { return Ok(()) };
                let row = self.row(entry, base, layout, explain).inspect_err(|_| {
                    // What stands in the way of all ends the other worker too.
                    next.store(entries.len(), Ordering::Relaxed);
                })?;
                rows.lock().unwrap_or_else(PoisonError::into_inner).insert(at, row);
            }
        };
        let (one, other): (Result<(), Failure>, Result<(), Failure>) = at_once(work, work);
        one.and(other)?;
        Ok(rows.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect())
    }

    fn row(
        &self,
        entry: &Entry,
        base: &Measurement,
        layout: &BTreeMap<String, u64>,
        explain: bool,
    ) -> Result<SettingRow, Failure> {
        let about = || (entry.condition.to_string(), entry.source.clone());
        let without = |outcome, reason| Ok(SettingRow::without(about(), outcome, Some(reason)));
        if let Some(why) = &entry.unseen {
            return without(SettingOutcome::Unseen, why.clone());
        }
        let image = self.image_with(&entry.condition)?;
        let new = match self.measure(&image) {
            Ok(new) => new,
            Err(Failure::Kernel { error, .. }) => {
                let (outcome, reason) = obstacle(&error);
                return without(outcome, reason);
            }
            Err(failure) => return Err(failure),
        };
        let row = SettingRow::of(about(), &compared(base, &new), layout);
        let function = if explain { self.function(&image, &row)? } else { None };
        Ok(SettingRow { function, ..row })
    }

    /// The function in which most of a row's largest change is; none where that can't be recorded.
    fn function(&self, image: &Image, row: &SettingRow) -> Result<Option<FunctionShare>, Failure> {
        let recordable = row.changed.iter().filter(|change| change.difference != 0);
        let mut found = recordable.filter_map(|change| RecordablePath::find(&change.path).ok());
        let Some(path) = found.next() else { return Ok(None) };
        let sides = [(self.image, None), (image, None)];
        let explained = explain::differences(self.session, sides, &[path], self.board);
        let explained = match explained.and_then(only) {
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            explained => explained.ok(),
        };
        let difference = explained.and_then(|explained| explained.difference);
        Ok(difference.and_then(|difference| {
            let functions = difference.functions.iter();
            let most = functions.max_by_key(|function| function.difference.unsigned_abs())?;
            Some(FunctionShare {
                name: most.name.clone(),
                path: path.name().to_owned(),
                difference: most.difference,
                of: difference.total,
            })
        }))
    }

    fn image_with(&self, condition: &Condition) -> Result<Image, Failure> {
        let both = self.common.and(condition).map_err(|error| Failure::Usage {
            message: format!("--under and {condition}: {error}"),
            help: "leave one of them out".to_owned(),
        })?;
        Ok(self.image.clone().under(&both))
    }

    fn measure(&self, image: &Image) -> Result<Measurement, Failure> {
        let line = self.board.line(image.subject().name);
        let result = self.session.measure(image, &|progress| line.show(progress));
        line.clear();
        result
    }
}

/// The settings of a set, the one that stands for all first.
fn in_order(set: &Set) -> impl Iterator<Item = &Entry> {
    set.all.iter().chain(&set.settings)
}

fn compared(base: &Measurement, new: &Measurement) -> Comparison {
    compare(base, new, Threshold::default())
}

/// What became of a setting with which the kernel could not be measured.
fn obstacle(error: &VmError) -> (SettingOutcome, String) {
    match error {
        VmError::Unmet(Unmet { cause: UnmetCause::Unknown, what, .. }) => {
            (SettingOutcome::Unknown, what.clone())
        }
        VmError::Unmet(Unmet { what, .. }) => (SettingOutcome::Refused, what.clone()),
        error => (SettingOutcome::Failed, error.to_string()),
    }
}
