//! The table of one result: a row a path, then what the numbers depend on.

use pathmeter_trace::Event;

use pathmeter_model::{Configuration, Measurement, PathResult, Status, Subject, Unit, Verdict};

use crate::comparison::shortened;
use crate::measured_with::measured_with;
use crate::number::{at_least, grouped, one_unit, unit_word};
use crate::rows::Rows;
use crate::style::{PLAIN, Style, of_verdict};
use crate::table::{Align, Cell, Table};

/// A row for each path (estimate, exact values, status, reason or checks), then the notes and what
/// was measured on which machine.
pub(crate) fn path_table(measurement: &Measurement, rows: Rows, style: Style) -> String {
    let Measurement { subject, configuration, notes, .. } = measurement;
    let paths: Vec<&PathResult> = measurement.paths.iter().collect();
    results(&paths, measurement.unit(), rows, style) + &footer(subject, configuration, notes, style)
}

/// A row for each path; `unit` is that of a result without numbers.
pub(crate) fn results(paths: &[&PathResult], unit: Unit, rows: Rows, style: Style) -> String {
    // Rows of several units have it beside them.
    let several = one_unit(paths.iter().map(|path| path.unit)).is_none()
        && paths.iter().any(|path| path.unit != Unit::Check);
    let shown = one_unit(paths.iter().map(|path| path.unit)).unwrap_or(unit);
    let mut table = Table::new(&[
        ("path", Align::Left),
        (if several { "number" } else { unit_word(shown) }, Align::Right),
        ("unit", Align::Left),
        ("string bytes", Align::Right),
        ("idle", Align::Right),
        ("exact values", Align::Left),
        ("status", Align::Left),
        ("noticed", Align::Left),
    ])
    .sparing(&["exact values", "string bytes", "idle"])
    .with_remarks();
    for path in paths {
        table.row(row(path, several, rows));
    }
    table.render(style)
}

fn row(path: &PathResult, several: bool, rows: Rows) -> [Cell; 8] {
    let value = path.value();
    [
        path.path.as_str().into(),
        value.map_or_else(String::new, |value| number(path, value)).into(),
        value.filter(|_| several).map_or("", |_| unit_word(path.unit)).into(),
        event(path, Event::StringBytes).into(),
        event(path, Event::Idle).into(),
        typical_values(path).into(),
        status(path),
        noticed(path, rows).as_str().into(),
    ]
}

fn number(path: &PathResult, value: u64) -> String {
    at_least(value, path.is_lower_bound(value))
}

/// The row's number of an event, if there is one.
fn event(path: &PathResult, event: Event) -> String {
    let number = path.event(event);
    if number > 0 { grouped(number) } else { String::new() }
}

/// Why a path has no samples, or else what its probe found worth telling; folded, of that the
/// beginning.
fn noticed(path: &PathResult, rows: Rows) -> String {
    let checks = path.checks.iter().map(|check| format!("{}: {}", check.name, check.value));
    let told = || match (rows, checks.collect::<Vec<_>>().join("; ")) {
        (Rows::All, told) => told,
        (Rows::Folded, told) => shortened(&told),
    };
    path.reason.clone().unwrap_or_else(told)
}

/// `3 values 4,739…6,781`; nothing for a path with one value, the usual case.
fn typical_values(path: &PathResult) -> String {
    match path.estimate.as_ref().map(|estimate| estimate.typical.as_slice()) {
        Some(typical @ [first, .., last]) if typical.len() > 1 => {
            format!("{} values {}…{}", typical.len(), number(path, *first), number(path, *last))
        }
        _ => String::new(),
    }
}

/// The status in the colours of the verdict it leads to. A check that is ok is shown as passed,
/// since it has no number to show for it.
fn status(path: &PathResult) -> Cell {
    let text = match (path.status, path.unit) {
        (Status::Ok, Unit::Check) => "passed".to_owned(),
        (status, _) => status.to_string(),
    };
    let paint = match path.status {
        Status::Ok => PLAIN,
        Status::Unsupported => of_verdict(Verdict::Unsupported),
        Status::Failed => of_verdict(Verdict::Broken),
    };
    Cell::painted(&text, paint)
}

/// The notes, then what was measured on which machine.
pub(crate) fn footer(
    subject: &Subject,
    configuration: &Configuration,
    notes: &[String],
    style: Style,
) -> String {
    let release = configuration.release.as_deref().unwrap_or("release unknown");
    let facts =
        [format!("{}, {release}", subject.name), measured_with(&configuration.measured_with())];
    let notes = notes.iter().map(|note| style.fill(&format!("note: {note}"), 0) + "\n");
    let facts = facts.iter().map(|fact| style.quiet(fact));
    std::iter::once("\n".to_owned()).chain(notes).chain(facts).collect()
}
