//! A heat map of paths × kernels: its rows, its columns and its cells. A page and a
//! [picture](picture) draw the same ones.

mod columns;
pub(crate) mod picture;

use pathmeter_model::{Measurement, PathComparison, PathResult, Status, Verdict};

pub use self::columns::find_steps;
pub(crate) use self::columns::{Columns, find_before, find_series, name_columns};

use crate::number::grouped;
use crate::shades::shade;

/// The rows and columns of the map of these results.
pub(crate) struct Axes<'a> {
    /// What tells the results apart, and what they have in common.
    pub(crate) columns: Columns,
    /// Each path that has a value in one of the results, in the order in which they have them.
    pub(crate) paths: Vec<&'a str>,
    /// Those that no kernel has numbers of.
    pub(crate) left_out: Vec<&'a str>,
}

impl<'a> Axes<'a> {
    pub(crate) fn of(results: &'a [Measurement]) -> Self {
        let mut paths: Vec<&str> = Vec::new();
        let mut left_out: Vec<&str> = Vec::new();
        for path in results.iter().flat_map(|result| &result.paths) {
            let name = path.path.as_str();
            if !paths.contains(&name) && results.iter().any(|result| is_shown(result, name)) {
                paths.push(name);
            } else if !paths.contains(&name) && !left_out.contains(&name) {
                left_out.push(name);
            }
        }
        Self { columns: name_columns(results), paths, left_out }
    }
}

pub(crate) struct Cell {
    /// The class that colours it.
    pub(crate) class: &'static str,
    pub(crate) text: String,
}

impl Cell {
    /// What a path costs more or less than on the kernel of the base.
    pub(crate) fn from_comparison(path: Option<&PathComparison>) -> Self {
        match path {
            Some(path) => {
                // By the number as it is shown: of one number there is one shade.
                let percent = path.percent.map(rounded);
                Self { class: shade(path.verdict, percent), text: in_cell(path) }
            }
            None => Self { class: "none", text: "–".to_owned() },
        }
    }

    /// What a path costs, in the column of the base.
    pub(crate) fn of_base(result: &Measurement, path: &str) -> Self {
        let found = find_path(result, path).map(|it| (it.status, it.value()));
        let text = match found {
            Some((_, Some(value))) => grouped(value),
            Some((Status::Failed, None)) => "broken".to_owned(),
            _ => "–".to_owned(),
        };
        Self { class: "base", text }
    }
}

/// What a cell shows: percent, or a sign.
fn in_cell(path: &PathComparison) -> String {
    match path.verdict {
        Verdict::Same => "·".to_owned(),
        Verdict::Unsupported => "–".to_owned(),
        Verdict::Broken => "broken".to_owned(),
        Verdict::EventsDiffer => "e".to_owned(),
        _ => path.percent.map_or_else(|| "?".to_owned(), short_percent),
    }
}

/// `+12`, `-0.4` or `+0.02`: two digits are enough for a cell.
fn short_percent(percent: f64) -> String {
    format!("{percent:+.*}", decimals(percent))
}

fn decimals(percent: f64) -> usize {
    match percent.abs() {
        9.95.. => 0,
        0.095.. => 1,
        _ => 2,
    }
}

/// The number that a cell shows.
fn rounded(percent: f64) -> f64 {
    let unit = [1.0, 10.0, 100.0][decimals(percent)];
    (percent * unit).round() / unit
}

/// A result's path of this name.
pub(crate) fn find_path<'a>(result: &'a Measurement, path: &str) -> Option<&'a PathResult> {
    result.paths.iter().find(|found| found.path == path)
}

/// Whether a path has numbers, or should have.
fn is_shown(result: &Measurement, path: &str) -> bool {
    let path = find_path(result, path);
    path.is_some_and(|path| path.value().is_some() || path.status == Status::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_two_digits() {
        let texts = [0.44, -9.96, 38.2, 0.021].map(short_percent);
        assert_eq!(texts, ["+0.4", "-10", "+38", "+0.02"]);
    }

    #[test]
    fn numbers_that_are_shown_alike_have_one_shade() {
        let shades = [19.6, 20.4, 0.96, 1.04].map(|percent| {
            (short_percent(percent), shade(Verdict::Higher, Some(rounded(percent))))
        });
        assert_eq!(shades[0], ("+20".to_owned(), "up4"));
        assert_eq!((&shades[0], &shades[2]), (&shades[1], &shades[3]));
    }
}
