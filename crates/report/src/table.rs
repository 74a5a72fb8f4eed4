//! Aligned columns without lines: two spaces between columns, nothing trailing.
//!
//! The last column holds free text and is cut with `…` where the width ends; the others are never
//! cut, since half a number is a wrong number.

use anstyle::Style as Paint;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::style::{PLAIN, QUIET, Style};

const GAP: &str = "  ";
/// The last column keeps this much at any width: enough for the longest verdict, should that be the
/// last column, and for a reason to be readable.
const LEAST_CUT: usize = 14;

/// Where a column's text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Text with its colour.
#[derive(Clone)]
pub(crate) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    pub(crate) fn painted(text: &str, paint: Paint) -> Self {
        Self { text: clean(text), paint }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::painted(text.as_ref(), PLAIN)
    }
}

/// A table under construction.
pub(crate) struct Table {
    columns: Vec<Align>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with these column headings.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let header = columns.iter().map(|&(name, _)| Cell::painted(name, QUIET)).collect();
        Self { columns: columns.iter().map(|&(_, align)| align).collect(), rows: vec![header] }
    }

    /// Adds a row, with a cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table as text, a line a row. Columns without any text but their heading are left out.
    pub(crate) fn render(mut self, style: Style) -> String {
        self.drop_empty_columns();
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let before_last: usize = widths.iter().rev().skip(1).map(|width| width + GAP.len()).sum();
        let room = style.width.map(|width| width.saturating_sub(before_last).max(LEAST_CUT));
        self.rows.iter().map(|row| self.line(row, &widths, room, style) + "\n").collect()
    }

    fn drop_empty_columns(&mut self) {
        for column in (0..self.columns.len()).rev() {
            if self.rows.len() > 1
                && self.rows.iter().skip(1).all(|row| row[column].text.is_empty())
            {
                self.columns.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().map(|row| row[column].text.width()).max().unwrap_or(0)
    }

    fn line(&self, row: &[Cell], widths: &[usize], room: Option<usize>, style: Style) -> String {
        let last = row.len().saturating_sub(1);
        let mut line = String::new();
        // Padding is owed until more text follows, so that no line ends in spaces.
        let mut owed = 0;
        for (column, cell) in row.iter().enumerate() {
            let text = match room {
                Some(room) if column == last => cut(&cell.text, room),
                _ => cell.text.clone(),
            };
            let padding = widths[column].saturating_sub(text.width());
            let (left, right) = match self.columns[column] {
                Align::Left => (0, padding),
                Align::Right => (padding, 0),
            };
            if text.trim_end().is_empty() {
                owed += widths[column] + GAP.len();
                continue;
            }
            line.push_str(&" ".repeat(owed + left));
            line.push_str(&style.paint(text.trim_end(), cell.paint));
            owed = text.width() - text.trim_end().width() + right + GAP.len();
        }
        line
    }
}

/// `text` in at most `room` columns, ending in `…` if it was longer.
fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    kept.collect::<String>().trim_end().to_owned() + "…"
}

/// `text` on one line, with nothing in it that a terminal would obey: control characters, and the
/// marks that change the direction of writing (Unicode UAX #9, table 4).
pub(crate) fn clean(text: &str) -> String {
    let obeyed =
        |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if obeyed(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(style: Style) -> Vec<String> {
        let mut table =
            Table::new(&[("path", Align::Left), ("n", Align::Right), ("", Align::Left)]);
        table.row(["a.b".into(), "12,345".into(), "a long reason indeed".into()]);
        table.row(["long.name".into(), "6".into(), "".into()]);
        table.render(style).lines().map(str::to_owned).collect()
    }

    #[test]
    fn columns_are_aligned_and_lines_end_in_text() {
        let expected =
            ["path            n", "a.b        12,345  a long reason indeed", "long.name       6"];
        assert_eq!(lines(Style::default()), expected);
    }

    #[test]
    fn only_the_last_column_is_cut() {
        let style = Style { width: Some(34), ..Style::default() };
        assert_eq!(lines(style)[1], "a.b        12,345  a long reason…");
        let too_narrow = Style { width: Some(5), ..Style::default() };
        assert_eq!(lines(too_narrow)[1], "a.b        12,345  a long reason…");
    }

    #[test]
    fn columns_without_text_are_left_out() {
        let mut table = Table::new(&[("path", Align::Left), ("reason", Align::Left)]);
        table.row(["a.b".into(), "".into()]);
        assert_eq!(table.render(Style::default()), "path\na.b\n");
    }

    #[test]
    fn a_terminal_obeys_nothing_in_foreign_text() {
        assert_eq!(clean("a\x1b[31m\nb\u{202e}c"), "a\u{fffd}[31m\u{fffd}b\u{fffd}c");
    }
}
