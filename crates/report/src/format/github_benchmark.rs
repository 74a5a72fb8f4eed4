//! What github-action-benchmark reads as `customSmallerIsBetter`: NEW's numbers, for a history that
//! the action keeps itself.

use pathmeter_model::clean;
use serde_json::{Value, json};

use super::{Format, Judged, Line};
use crate::measured_with::measured_with;

/// The row of the table of formats.
pub(super) const FORMAT: Format = Format {
    word: "github-action-benchmark",
    about: "for that action, as customSmallerIsBetter",
    ending: "json",
    is_of_gate: false,
    rows: benchmarks,
    page: None,
};

/// An entry for each path that NEW has a number of.
fn benchmarks(judged: Judged<'_>) -> String {
    let entries: Vec<Value> = judged.lines().filter_map(|line| entry(judged, &line)).collect();
    format!("{:#}\n", Value::Array(entries))
}

fn entry(judged: Judged<'_>, line: &Line<'_>) -> Option<Value> {
    let value = line.row.new.filter(|_| line.has_numbers())?;
    let new = &judged.comparison.new;
    let release = new.release.as_deref().unwrap_or("release unknown");
    let with = new.measured_with.as_ref().map(|it| clean(&measured_with(it)) + "\n");
    let with = with.unwrap_or_default();
    let why = line.why();
    let fails = if why.is_empty() { why } else { format!("\nfails: {why}") };
    Some(json!({
        "name": clean(&line.row.path),
        "unit": line.row.unit.to_string(),
        "value": value,
        "extra": format!(
            "{}, {}\n{with}{}{fails}", clean(&new.name), clean(release), line.sentence()
        ),
    }))
}
