//! Paths over results, drawn with characters.
//!
//! A column is a result, or several in a row if there are more than columns: then it has all of
//! their values. The lowest line has a mark where the path did not run.

use pathmeter_model::{History, PathHistory, Status, Unit, Verdict};

use super::amount::amount;
use super::day;
use super::times::machines;
use crate::comparison::fact;
use crate::style::{PLAIN, QUIET, Style, of_verdict};

/// Lines of a drawing of more than one value.
const HEIGHT: usize = 9;
/// Columns of a drawing if the terminal does not tell.
const COLUMNS: usize = 80;
/// Columns that a result has at most.
const MOST_COLUMNS: usize = 8;
/// Columns of a drawing on the narrowest terminal.
const LEAST_COLUMNS: usize = 10;

/// A value in the drawing, and a result in which the path did not run.
const MARK: char = '•';
const NO_VALUE: char = '×';

/// A drawing for each path, one below the other.
pub fn history_plot(history: &History, style: Style) -> String {
    let history = history.by_series();
    let drawings = history.paths.iter().map(|path| drawing(&history, path, style));
    drawings.collect::<Vec<_>>().join("\n") + &machines(&history, style)
}

fn drawing(history: &History, path: &PathHistory, style: Style) -> String {
    let heading = fact("path", &path.path, PLAIN, style);
    let values = || path.points.iter().flatten().filter_map(|point| point.value);
    let (Some(lowest), Some(highest)) = (values().min(), values().max()) else {
        return heading + &style.paint("no values\n", QUIET);
    };
    let with_value = path.points.iter().flatten().find(|point| point.value.is_some());
    let unit = with_value.map_or(Unit::Instructions, |point| point.unit);
    let shown = |value: u64| amount(value, unit);
    let margin = [lowest, highest].map(|value| shown(value).len()).into_iter().max().unwrap_or(0);
    let columns = style.width.unwrap_or(COLUMNS).saturating_sub(margin + 2).max(LEAST_COLUMNS);
    let columns = columns.min(path.points.len() * MOST_COLUMNS);
    let height = if lowest == highest { 1 } else { HEIGHT };
    let scale = Scale { lowest, highest, height };
    let mut grid = vec![vec![' '; columns]; height];
    let mut missing = vec![' '; columns];
    for (at, point) in path.points.iter().enumerate() {
        let column = at * (columns - 1) / (path.points.len() - 1).max(1);
        match point.map(|point| (point.status, point.value)) {
            Some((Status::Ok, Some(value))) => grid[scale.line(value)][column] = MARK,
            Some((Status::Ok, None)) | None => {}
            Some(_) => missing[column] = NO_VALUE,
        }
    }
    let mut text = heading;
    for (line, marks) in grid.iter().enumerate() {
        let value = scale.label(line).map_or_else(String::new, shown);
        let marks: String = marks.iter().collect();
        let axis = style.paint(&format!("{value:>margin$} ┤"), QUIET);
        text.extend([&axis, marks.trim_end(), "\n"]);
    }
    if missing.contains(&NO_VALUE) {
        let marks: String = missing.iter().collect();
        let marks = style.paint(marks.trim_end(), of_verdict(Verdict::Broken));
        text.extend([" ".repeat(margin + 2), marks, "\n".to_owned()]);
    }
    text + &dates(history, margin + 2, columns, style)
}

/// The first day, and the last where the last column is.
fn dates(history: &History, indent: usize, columns: usize, style: Style) -> String {
    let (Some(first), Some(last)) = (history.results.first(), history.results.last()) else {
        return String::new();
    };
    let (first, last) = (day(first), day(last));
    let line = if columns > first.len() + last.len() {
        format!("{first}{last:>width$}", width = columns - first.len())
    } else {
        format!("{first} … {last}")
    };
    format!("{}{}\n", " ".repeat(indent), style.paint(&line, QUIET))
}

/// From values to lines, of which 0 is the uppermost.
struct Scale {
    lowest: u64,
    highest: u64,
    height: usize,
}

impl Scale {
    fn line(&self, value: u64) -> usize {
        let range = u128::from(self.highest - self.lowest).max(1);
        let below = u128::from(self.highest - value) * (self.height as u128 - 1);
        usize::try_from((below + range / 2) / range).unwrap_or(0).min(self.height - 1)
    }

    /// The value that stands at a line, if one does: at both ends, and in the middle.
    fn label(&self, line: usize) -> Option<u64> {
        match line {
            0 => Some(self.highest),
            _ if line + 1 == self.height => Some(self.lowest),
            _ if line * 2 + 1 == self.height => {
                Some(self.lowest + (self.highest - self.lowest) / 2)
            }
            _ => None,
        }
    }
}
