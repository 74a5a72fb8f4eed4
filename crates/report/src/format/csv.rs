//! Comma-separated values, by RFC 4180, with the line ends of all other output.

use csv::Writer;
use pathmeter_model::{EventComparison, SideInfo, clean};

use super::{Format, Judged, Line, Outcome, RowsOf};
use crate::measured_with::measured_with;

const HEADINGS: [&str; 16] = [
    "path",
    "event",
    "base",
    "new",
    "difference",
    "percent",
    "verdict",
    "outcome",
    "base_subject",
    "base_release",
    "new_subject",
    "new_release",
    "base_measured_with",
    "new_measured_with",
    "reason",
    "fails",
];

/// The row of the table of formats.
pub(super) const FORMAT: Format = Format {
    word: "csv",
    about: "for spreadsheets and scripts",
    ending: "csv",
    is_of_gate: false,
    rows: csv,
    page: None,
};

/// A row for each path, under its unit, and one for each event that differs. An empty field is a
/// number that there is not.
fn csv(judged: Judged<'_>) -> String {
    let (base, new) = (&judged.comparison.base, &judged.comparison.new);
    let release = |side: &SideInfo| side.release.clone().unwrap_or_default();
    let with = |side: &SideInfo| side.measured_with.as_ref().map(measured_with).unwrap_or_default();
    let mut sides =
        [base.name.clone(), release(base), new.name.clone(), release(new), with(base), with(new)];
    if judged.of == RowsOf::One {
        for of_base in [0, 1, 4] {
            sides[of_base].clear();
        }
    }
    let mut writer = Writer::from_writer(Vec::new());
    // Writing to memory can't fail, and each row has as many fields as there are headings.
    let mut write = |row: &[String]| drop(writer.write_record(row.iter().map(|text| field(text))));
    write(&HEADINGS.map(str::to_owned));
    for line in judged.lines() {
        write(&own_row(&line, &sides));
        for event in &line.row.events {
            write(&event_row(&line, event, &sides));
        }
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn own_row(line: &Line<'_>, sides: &[String; 6]) -> Vec<String> {
    let row = line.row;
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let own = [
        row.path.clone(),
        row.unit.to_string(),
        number(row.base),
        number(row.new),
        row.difference.map_or_else(String::new, |value| value.to_string()),
        row.percent.map_or_else(String::new, |percent| format!("{percent:.6}")),
        line.verdict(),
        word(line.outcome).to_owned(),
    ];
    let why = [row.reason.clone().unwrap_or_default(), line.why()];
    [&own[..], sides, &why].concat()
}

fn event_row(line: &Line<'_>, event: &EventComparison, sides: &[String; 6]) -> Vec<String> {
    let EventComparison { event, base, new, difference, verdict } = event;
    let own = [
        line.row.path.clone(),
        event.clone(),
        base.to_string(),
        new.to_string(),
        difference.to_string(),
        String::new(),
        verdict.to_string(),
        String::new(),
    ];
    [&own[..], sides, &[String::new(), String::new()]].concat()
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Worse => "worse",
        Outcome::Missing => "not-compared",
        Outcome::Passed => "passed",
        Outcome::Unasked => "",
        Outcome::Skipped => "skipped",
    }
}

/// Text as a field. Spreadsheets take what begins with one of `=+-@` for a formula, so that gets an
/// apostrophe before it, unless it is a number.
fn field(text: &str) -> String {
    let text = clean(text);
    let formula = text.trim_start().starts_with(['=', '+', '-', '@']);
    if formula && text.parse::<f64>().is_err() { format!("'{text}") } else { text }
}
