//! Comma-separated values, by RFC 4180.

use pathmeter_model::{EventComparison, SideInfo};

use super::{Judged, Line, Outcome};
use crate::measured_with::measured_with;
use crate::table::clean;

const HEADINGS: &str = "path,event,base,new,difference,percent,verdict,outcome,base_subject,\
                        base_release,new_subject,new_release,base_measured_with,\
                        new_measured_with,reason,fails";

/// A row for each path, under its unit, and one for each event that differs. An empty field is a
/// number that there is not.
pub(super) fn csv(judged: Judged<'_>) -> String {
    let (base, new) = (&judged.comparison.base, &judged.comparison.new);
    let release = |release: &Option<String>| field(release.as_deref().unwrap_or_default());
    let with = |side: &SideInfo| {
        field(&side.measured_with.as_ref().map(measured_with).unwrap_or_default())
    };
    let sides = format!(
        "{},{},{},{},{},{}",
        field(&base.name),
        release(&base.release),
        field(&new.name),
        release(&new.release),
        with(base),
        with(new)
    );
    let rows = judged.lines().flat_map(|line| {
        let own = own_row(&line, &sides);
        std::iter::once(own).chain(line.row.events.iter().map({
            let sides = sides.clone();
            move |event| event_row(&line, event, &sides)
        }))
    });
    std::iter::once(HEADINGS.to_owned()).chain(rows).map(|row| row + "\r\n").collect()
}

fn own_row(line: &Line<'_>, sides: &str) -> String {
    let row = line.row;
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let difference = row.difference.map_or_else(String::new, |value| value.to_string());
    let percent = row.percent.map_or_else(String::new, |percent| format!("{percent:.6}"));
    format!(
        "{},{},{},{},{difference},{percent},{},{},{sides},{},{}",
        field(&row.path),
        row.unit,
        number(row.base),
        number(row.new),
        row.verdict,
        word(line.outcome),
        field(row.reason.as_deref().unwrap_or_default()),
        field(&line.why())
    )
}

fn event_row(line: &Line<'_>, event: &EventComparison, sides: &str) -> String {
    let EventComparison { base, new, difference, verdict, .. } = event;
    let name = field(&event.event);
    format!("{},{name},{base},{new},{difference},,{verdict},,{sides},,", field(&line.row.path))
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Worse => "worse",
        Outcome::Missing => "not-compared",
        Outcome::Passed => "passed",
        Outcome::Skipped => "skipped",
    }
}

/// Text as a field: quoted where it must be. Spreadsheets take what begins with one of `=+-@` for a
/// formula, so that gets an apostrophe before it.
fn field(text: &str) -> String {
    let text = clean(text);
    let formula = text.trim_start().starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text };
    if text.contains([',', '"', '\'', ';']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}
