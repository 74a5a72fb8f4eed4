//! `OpenMetrics` 1.0: gauges for a push gateway or a file that an agent collects.

use std::fmt::Write as _;

use pathmeter_model::{GateReason, SideInfo, clean};

use super::{Format, Judged, Line, Outcome, RowsOf};
use crate::measured_with::measured_with;

/// The row of the table of formats.
pub(super) const FORMAT: Format = Format {
    word: "openmetrics",
    about: "for Prometheus' textfile collector",
    ending: "prom",
    is_of_gate: false,
    rows: openmetrics,
    page: None,
};

/// The two subjects, the cost of each path on both sides, the events that differ, and the outcome.
fn openmetrics(judged: Judged<'_>) -> String {
    let lines: Vec<Line<'_>> = judged.lines().filter(Line::has_numbers).collect();
    let of_lines =
        |sample: &dyn Fn(&Line<'_>) -> String| -> String { lines.iter().map(sample).collect() };
    let (base, new) = (&judged.comparison.base, &judged.comparison.new);
    [
        head("pathmeter_subject", "info", "What was measured."),
        if judged.of == RowsOf::One { String::new() } else { subject("base", base) },
        subject("new", new),
        head("pathmeter_cost", "gauge", "What a path costs, in its unit."),
        of_lines(&cost),
        head("pathmeter_event", "gauge", "Events of a path whose numbers differ."),
        of_lines(&events),
        head("pathmeter_worse", "gauge", "Whether the gate finds a path worse, 1 or 0."),
        judged.lines().map(|line| worse(&line)).collect(),
        head("pathmeter_failure", "info", "Why the gate fails, an entry for each event."),
        judged.gate.worse.iter().map(failure).collect(),
        "# EOF\n".to_owned(),
    ]
    .concat()
}

fn head(name: &str, kind: &str, help: &str) -> String {
    format!("# TYPE {name} {kind}\n# HELP {name} {help}\n")
}

fn subject(side: &str, about: &SideInfo) -> String {
    format!(
        "pathmeter_subject_info{{side=\"{side}\",name=\"{}\",release=\"{}\",\
         image_sha256=\"{}\",measured_with=\"{}\"}} 1\n",
        label(&about.name),
        label(about.release.as_deref().unwrap_or_default()),
        label(&about.image_sha256),
        label(&about.measured_with.as_ref().map(measured_with).unwrap_or_default())
    )
}

fn cost(line: &Line<'_>) -> String {
    let (path, unit) = (label(&line.row.path), line.row.unit);
    let sample = |side: &str, value: Option<u64>| {
        value.map_or_else(String::new, |value| {
            format!("pathmeter_cost{{path=\"{path}\",unit=\"{unit}\",side=\"{side}\"}} {value}\n")
        })
    };
    sample("base", line.row.base) + &sample("new", line.row.new)
}

fn events(line: &Line<'_>) -> String {
    let path = label(&line.row.path);
    let mut text = String::new();
    for event in &line.row.events {
        let name = label(&event.event);
        for (side, value) in [("base", event.base), ("new", event.new)] {
            // Writing to a string never fails.
            let _ = writeln!(
                text,
                "pathmeter_event{{path=\"{path}\",event=\"{name}\",side=\"{side}\"}} {value}"
            );
        }
    }
    text
}

fn worse(line: &Line<'_>) -> String {
    let value = match line.outcome {
        Outcome::Worse => 1,
        Outcome::Passed => 0,
        // Nothing is known.
        Outcome::Missing | Outcome::Skipped | Outcome::Unasked => return String::new(),
    };
    format!("pathmeter_worse{{path=\"{}\"}} {value}\n", label(&line.row.path))
}

fn failure(reason: &GateReason) -> String {
    format!(
        "pathmeter_failure_info{{path=\"{}\",event=\"{}\",why=\"{}\"}} 1\n",
        label(&reason.row),
        label(reason.event.as_deref().unwrap_or_default()),
        label(&reason.why)
    )
}

/// Text as a label's value.
fn label(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace('"', "\\\"")
}
