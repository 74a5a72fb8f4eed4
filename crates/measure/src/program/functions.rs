//! The kernel's functions that the rows and regions of a program are in, from the cells that the
//! program plugin counted.

use std::collections::{BTreeMap, BTreeSet};

use pathmeter_model::{FunctionCost, ProgramRun, RowFunctions, RowKind, lower_median};
use pathmeter_trace::{
    AccountCell, Event, EventCell, FIRST_WINDOW, KernelPlaces, Resolve, Symbols, USER_CODE, folded,
};

use crate::program::kernel_names::{KernelNames, row_name};

/// What the rows and regions of one run executed where in the kernel's code.
pub(crate) struct Cells {
    /// The instructions, by row and block.
    pub(crate) steps: Vec<AccountCell>,
    /// Which of these were events.
    pub(crate) events: Vec<EventCell>,
}

/// The functions of a row, by name.
type Functions = BTreeMap<String, FunctionCost>;
/// Those of all rows and regions of a run.
type ByRow = BTreeMap<(RowKind, String), Functions>;

/// The functions of each row, all of one run, so that they add up: the run after the first that has
/// the row's median, or the first itself if there is no other.
pub(crate) fn functions(
    runs: &[Cells],
    names: &[String],
    kernel: &KernelNames,
) -> Vec<RowFunctions> {
    let first = usize::from(runs.len() > 1);
    let shown = runs.get(first..).unwrap_or_default();
    let mut shown: Vec<ByRow> = shown.iter().map(|run| by_row(run, names, kernel)).collect();
    let rows: BTreeSet<(RowKind, String)> = shown.iter().flat_map(ByRow::keys).cloned().collect();
    let row = |key: (RowKind, String)| {
        let runs = shown.iter_mut().map(|run| run.remove(&key).unwrap_or_default()).collect();
        Some(RowFunctions { kind: key.0, name: key.1, functions: typical(runs)? })
    };
    rows.into_iter().filter_map(row).collect()
}

/// What each row of a run executed in which function.
fn by_row(run: &Cells, names: &[String], kernel: &KernelNames) -> ByRow {
    let mut rows = ByRow::new();
    for cell in &run.steps {
        let row = rows.entry(row_of(cell.kind, cell.id, names, kernel)).or_default();
        let (cost, begins) = function(cell.address, row, &kernel.symbols);
        cost.calls += if begins { cell.times } else { 0 };
        cost.instructions += cell.instructions;
    }
    for cell in &run.events {
        let row = rows.entry(row_of(cell.kind, cell.id, names, kernel)).or_default();
        let (cost, _) = function(cell.address, row, &kernel.symbols);
        let sum = cost.events.entry(cell.event).or_default();
        *sum = sum.saturating_add(cell.number);
    }
    rows
}

/// The function that a block is in, and whether that begins with the block.
fn function<'a>(
    address: u64,
    functions: &'a mut Functions,
    symbols: &Symbols,
) -> (&'a mut FunctionCost, bool) {
    let (name, begins) = match symbols.resolve(address) {
        Some(found) => (folded(found.name).to_owned(), found.offset == 0),
        None if address == USER_CODE => ("(user code)".to_owned(), false),
        None => ("(no symbol)".to_owned(), false),
    };
    let nothing = |name: &String| FunctionCost { function: name.clone(), ..Default::default() };
    (functions.entry(name).or_insert_with_key(nothing), begins)
}

/// The functions of the first of these runs that has the median of their instructions. None if that
/// run has none, because the row is absent there.
fn typical(runs: Vec<Functions>) -> Option<Vec<FunctionCost>> {
    let sum = |run: &Functions| run.values().map(|one| one.instructions).sum::<u64>();
    let median = lower_median(runs.iter().map(sum));
    let run = runs.into_iter().find(|run| sum(run) == median)?;
    let functions: Vec<FunctionCost> = run.into_values().collect();
    (!functions.is_empty()).then_some(functions)
}

/// The row, or region, of this kind and id.
fn row_of(kind: RowKind, id: u32, names: &[String], kernel: &KernelNames) -> (RowKind, String) {
    if kind != RowKind::Region {
        return (kind, row_name(kind, id, &kernel.places));
    }
    if let Some(window) = id.checked_sub(FIRST_WINDOW) {
        return (RowKind::Region, kernel.windows.name(window).unwrap_or("?").to_owned());
    }
    let name = usize::try_from(id).ok().and_then(|id| names.get(id));
    (RowKind::Region, format!("user.{}", name.map_or("?", String::as_str)))
}

/// What tells the sums of a run apart: the row, and the event; none for instructions.
type Key = (RowKind, String, Option<Event>);

/// Whether the instructions and the events of each row are in its functions, if these are counted:
/// no more and no less. Code of programs has none.
pub(crate) fn check_functions(
    run: &ProgramRun,
    cells: &Cells,
    places: &KernelPlaces,
) -> Result<(), String> {
    if cells.steps.is_empty() {
        return Ok(());
    }
    let steps = cells.steps.iter().map(|cell| (cell.kind, cell.id, None, cell.instructions));
    let events = cells.events.iter().map(|it| (it.kind, it.id, Some(it.event), it.number));
    let mut sums: BTreeMap<Key, u64> = BTreeMap::new();
    for (kind, id, event, number) in steps.chain(events).filter(|it| it.0 != RowKind::Region) {
        let sum = sums.entry((kind, row_name(kind, id, places), event)).or_default();
        *sum = sum.saturating_add(number);
    }
    for row in run.rows.iter().filter(|row| row.kind != RowKind::User) {
        let events = row.events.iter().filter(|(event, _)| event.is_class());
        let events = events.map(|(event, number)| (Some(*event), *number));
        for (event, counted) in events.chain([(None, row.instructions)]) {
            let sum = sums.remove(&(row.kind, row.name.clone(), event)).unwrap_or(0);
            if sum != counted {
                let name = pathmeter_model::row_name(row.kind, &row.name);
                let what = event.map_or("instructions", Event::word);
                return Err(format!(
                    "{name} has {counted} {what}, but {sum} in its functions: that is worth a \
                     report"
                ));
            }
        }
    }
    match sums.into_iter().find(|(_, sum)| *sum > 0) {
        Some(((kind, name, event), sum)) => {
            let name = pathmeter_model::row_name(kind, &name);
            let what = event.map_or("instructions", Event::word);
            Err(format!(
                "{sum} {what} are in functions of {name}, which has none: that is worth a report"
            ))
        }
        None => Ok(()),
    }
}
