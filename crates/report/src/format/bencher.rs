//! Bencher's Metric Format: a benchmark a path, NEW's number under the measure of its unit.

use pathmeter_model::clean;
use serde_json::{Map, Value, json};

use super::{Format, Judged, Line};

/// The row of the table of formats.
pub(super) const FORMAT: Format = Format {
    word: "bencher",
    about: "Bencher's Metric Format",
    ending: "json",
    is_of_gate: false,
    rows: metrics,
    page: None,
};

/// An entry for each path that NEW has a number of, with those of its events that differ.
fn metrics(judged: Judged<'_>) -> String {
    let benchmarks: Map<String, Value> =
        judged.lines().filter(Line::has_numbers).filter_map(|line| benchmark(&line)).collect();
    format!("{:#}\n", Value::Object(benchmarks))
}

fn benchmark(line: &Line<'_>) -> Option<(String, Value)> {
    let own = (line.row.unit.to_string(), json!({ "value": line.row.new? }));
    let events = line.row.events.iter();
    let events = events.map(|event| (clean(&event.event), json!({ "value": event.new })));
    let measures: Map<String, Value> = std::iter::once(own).chain(events).collect();
    Some((clean(&line.row.path), Value::Object(measures)))
}
