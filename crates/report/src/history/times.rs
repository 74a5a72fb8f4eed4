//! Times in a history: on which machines they were taken, and the steps of a path.

use pathmeter_model::{History, KeptResult, TimeRow};

use crate::number::percent;
use crate::style::{QUIET, Style};
use crate::table::Cell;
use crate::times::{paint, time, within};

/// A line for each machine that times which are shown were taken on.
pub(super) fn machines(history: &History, style: Style) -> String {
    let shown = |at: usize| history.paths.iter().any(|path| path.points[at].is_some());
    let all = history.results.iter().enumerate().filter(|(at, _)| shown(*at));
    let mut found: Vec<(&str, &KeptResult)> = Vec::new();
    for (machine, kept) in all.filter_map(|(_, kept)| Some((kept.machine.as_deref()?, kept))) {
        if !found.iter().any(|(known, _)| *known == machine) {
            found.push((machine, kept));
        }
    }
    let line = |(machine, kept): &(&str, &KeptResult)| {
        let whose = match found.len() {
            1 => "times were taken on".to_owned(),
            _ => format!("machine of #{}:", kept.number),
        };
        style.paint(&style.fill(&format!("{whose} {machine}"), 0), QUIET) + "\n"
    };
    found.iter().map(line).collect()
}

/// Before, after, difference, percent, verdict and remark of a step in time.
pub(super) fn times_cells(row: &TimeRow, label: &str) -> [Cell; 6] {
    let text = |text: Option<String>| Cell::from(text.unwrap_or_default());
    let difference = row.base.zip(row.new).map(|(base, new)| new - base);
    let sign = |difference: f64| if difference < 0.0 { "-" } else { "+" };
    let nanoseconds = |value: f64| format!("{} ns", time(value));
    let signed = difference.map(|it| format!("{}{}", sign(it), nanoseconds(it.abs())));
    let within = row.interval.map(within);
    let remark: Vec<&str> =
        [Some(label), within.as_deref(), row.reason.as_deref()].into_iter().flatten().collect();
    [
        text(row.base.map(nanoseconds)),
        text(row.new.map(nanoseconds)),
        text(signed),
        text(row.difference.map(percent)),
        Cell::painted(row.verdict.word(), paint(row.verdict)),
        remark.join("; ").as_str().into(),
    ]
}
