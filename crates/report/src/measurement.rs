//! The table of one result: a row a path, then what the numbers depend on.

use pathmeter_trace::Event;

use pathmeter_model::{Configuration, Measurement, PathResult, Status, Subject, Unit, Verdict};

use crate::number::{at_least, grouped};
use crate::style::{PLAIN, QUIET, Style, of_verdict};
use crate::table::{Align, Cell, Table, clean};

/// A row for each path (estimate, exact values, status, reason or checks), then the notes and what
/// was measured on which machine.
pub fn measurement_table(measurement: &Measurement, style: Style) -> String {
    let Measurement { subject, configuration, notes, .. } = measurement;
    results(&measurement.paths, measurement.unit(), style)
        + &footer(subject, configuration, notes, style)
}

/// A row for each path, most of which were measured in `unit`.
pub(crate) fn results(paths: &[PathResult], unit: Unit, style: Style) -> String {
    let unit = unit.to_string();
    let mut table = Table::new(&[
        ("path", Align::Left),
        (&unit, Align::Right),
        ("string bytes", Align::Right),
        ("idle", Align::Right),
        ("exact values", Align::Left),
        ("status", Align::Left),
        ("noticed", Align::Left),
    ])
    .sparing(&["exact values", "string bytes", "idle"])
    .with_remarks();
    for path in paths {
        table.row(row(path));
    }
    table.render(style)
}

fn row(path: &PathResult) -> [Cell; 7] {
    let estimate = path.estimate.as_ref();
    [
        path.path.as_str().into(),
        estimate.map_or_else(String::new, |estimate| number(path, estimate.value)).into(),
        typical(path, Event::StringBytes).into(),
        typical(path, Event::Idle).into(),
        typical_values(path).into(),
        status(path),
        noticed(path).as_str().into(),
    ]
}

fn number(path: &PathResult, value: u64) -> String {
    at_least(value, path.is_lower_bound(value))
}

/// What most samples have of an event, if anything.
fn typical(path: &PathResult, event: Event) -> String {
    let number = path.events.as_ref().map_or(0, |events| events.typical(event));
    if number > 0 { grouped(number) } else { String::new() }
}

/// Why a path has no samples, or else what they are if not instructions, and what its probe found
/// worth telling.
fn noticed(path: &PathResult) -> String {
    let steps = (path.unit == Unit::Clock).then(|| "steps of the clock".to_owned());
    let checks = path.checks.iter().map(|check| format!("{}: {}", check.name, check.value));
    let told = || steps.into_iter().chain(checks).collect::<Vec<_>>().join("; ");
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

/// The longest text of QEMU's that a table has in full; the document has all of it.
const LONGEST: usize = 60;

/// The fixed machine is known by that name; any other one is spelled out, as far as that is short.
pub(crate) fn machine(configuration: &Configuration) -> String {
    // A profile's description begins with its name.
    let profile = configuration.cpu.split_once(": ").map(|(name, _)| name);
    if configuration.portable {
        let cpu = profile.map_or_else(String::new, |name| format!(", cpu {name}"));
        return format!("the fixed machine{cpu}");
    }
    let cpu = profile.map_or_else(|| short(&configuration.cpu), str::to_owned);
    let cpus = match configuration.cpus {
        1 => String::new(),
        several => format!(", {several} CPUs"),
    };
    format!("{}, cpu {cpu}{cpus}", short(&configuration.machine))
}

fn short(text: &str) -> String {
    match text.split_once(',') {
        Some((first, _)) if text.len() > LONGEST => format!("{first},…"),
        _ => text.to_owned(),
    }
}

/// The notes, then what was measured on which machine.
pub(crate) fn footer(
    subject: &Subject,
    configuration: &Configuration,
    notes: &[String],
    style: Style,
) -> String {
    let release = configuration.release.as_deref().unwrap_or("release unknown");
    let runs = configuration.runs;
    let s = if runs == 1 { "" } else { "s" };
    let facts = [
        format!("{}, {release}", subject.name),
        format!(
            "QEMU {}, {}, {} MiB, {runs} perturbed run{s}",
            configuration.qemu,
            machine(configuration),
            configuration.memory_mib
        ),
    ];
    let notes = notes.iter().map(|note| style.fill(&clean(&format!("note: {note}")), 0) + "\n");
    let facts = facts.iter().map(|fact| style.paint(&style.fill(&clean(fact), 0), QUIET) + "\n");
    std::iter::once("\n".to_owned()).chain(notes).chain(facts).collect()
}
