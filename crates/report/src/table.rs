//! Aligned columns without lines: two spaces between columns, nothing trailing.
//!
//! The last column holds free text and is cut with `…` where the width ends; the others are never
//! cut, since half a number is a wrong number. Where they don't fit a narrow terminal, columns are
//! left out that the table can spare, and named below it; or else each row's label stands on a line
//! of its own. Remarks for which there is no room stand below their row. In a pipe nothing is cut:
//! a remark below its row goes on in further lines.

use anstyle::Style as Paint;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use pathmeter_model::clean;

use crate::style::{PLAIN, QUIET, Style, keep_words};

const GAP: &str = "  ";
/// The last column keeps this much at any width: enough for the longest verdict, should that be the
/// last column.
const LEAST_CUT: usize = 14;
/// Columns are left out before the last one has less than this: enough for most functions' names
/// and for a remark to be readable.
const READABLE: usize = 24;
/// Before what stands below a row's label, and before its remark.
const INDENT: &str = "    ";
/// What a line of a remark begins with that goes on from the line above: a remark may have words of
/// others, which must not pass for a line of ours.
const GOES_ON: &str = "… ";

/// Where a column's text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Clone)]
pub struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    pub fn painted(text: &str, paint: Paint) -> Self {
        Self { text: clean(text), paint }
    }

    /// The text, fit for a terminal.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::painted(text.as_ref(), PLAIN)
    }
}

pub struct Table {
    columns: Vec<Align>,
    rows: Vec<Vec<Cell>>,
    /// Headings of columns that may be left out, the first of them first.
    spare: &'static [&'static str],
    /// If the last column holds remarks: they stand below their rows where they have less room.
    remarks: Option<usize>,
}

/// How a table is laid out in a terminal.
#[derive(Clone, Copy, Default)]
struct Layout {
    /// Columns for the last cell of a row; None for no limit.
    room: Option<usize>,
    /// Whether each row's label stands on a line of its own.
    label_above: bool,
    /// Whether remarks stand below their rows, in lines of this width.
    remark_below: Option<usize>,
    /// Whether no text is cut.
    whole: bool,
}

impl Table {
    /// A table with these column headings.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let header = columns.iter().map(|&(name, _)| Cell::painted(name, QUIET)).collect();
        let columns = columns.iter().map(|&(_, align)| align).collect();
        Self { columns, rows: vec![header], spare: &[], remarks: None }
    }

    /// The same, with columns of these headings to spare, the first of them first.
    pub(crate) fn sparing(self, spare: &'static [&'static str]) -> Self {
        Self { spare, ..self }
    }

    /// The same, the last column of which holds remarks. They may be cut where there is no room.
    #[must_use]
    pub fn with_remarks(self) -> Self {
        Self { remarks: Some(READABLE), ..self }
    }

    /// The same, the last column of which holds remarks that are not cut as long as a line below
    /// has more room.
    pub(crate) fn with_whole_remarks(self) -> Self {
        Self { remarks: Some(usize::MAX), ..self }
    }

    /// Adds a row, with a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table as text, a line a row. Columns without any text but their heading are left out.
    pub fn render(mut self, style: Style) -> String {
        self.drop_empty_columns();
        let (width, whole) = (style.width.or(style.table_width), style.width.is_none());
        let (layout, left_out) =
            width.map_or_else(Default::default, |it| self.fit_to_width(it, whole));
        let rows: String = self.lines(layout, style);
        if left_out.is_empty() {
            return rows;
        }
        let text = format!("left out for want of room: {}", left_out.join(", "));
        let room = style.width.unwrap_or(usize::MAX).max(LEAST_CUT);
        rows + &style.paint(&cut(&text, room), QUIET) + "\n"
    }

    fn drop_empty_columns(&mut self) {
        for column in (0..self.columns.len()).rev() {
            if self.rows.len() > 1
                && self.rows.iter().skip(1).all(|row| row[column].text.is_empty())
            {
                self.drop_column(column);
            }
        }
    }

    fn drop_column(&mut self, column: usize) {
        if column + 1 == self.columns.len() {
            self.remarks = None;
        }
        self.columns.remove(column);
        self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
    }

    /// Drops columns, in the order of `spare`, until the table fits `width`. Returns the layout,
    /// and the headings of the columns that were dropped.
    fn fit_to_width(&mut self, width: usize, whole: bool) -> (Layout, Vec<&'static str>) {
        let label_above =
            self.columns.first() == Some(&Align::Left) && !self.fits_without_spare(width);
        let mut left_out = Vec::new();
        let mut spare = self.spare.iter();
        while self.needed(label_above, READABLE) > width {
            let Some(heading) = spare.next() else { break };
            if let Some(column) = self.rows[0].iter().position(|cell| cell.text == *heading) {
                self.drop_column(column);
                left_out.push(*heading);
            }
        }
        let room = width.saturating_sub(self.before_last(label_above));
        let last = self.columns.len().checked_sub(1).map_or(0, |last| self.width(last));
        let least = |least: usize| if whole { last } else { least.min(last) };
        let short = self.remarks.is_some_and(|it| room < least(it));
        let remark_below = short.then(|| width.saturating_sub(INDENT.len()).max(LEAST_CUT));
        let room = (!whole).then_some(room.max(LEAST_CUT));
        (Layout { room, label_above, remark_below, whole }, left_out)
    }

    /// Whether the columns that the table can't spare fit.
    fn fits_without_spare(&self, width: usize) -> bool {
        let spared = |column: usize| self.spare.contains(&&*self.rows[0][column].text);
        let spare = (0..self.columns.len()).filter(|&column| spared(column));
        let spare: usize = spare.map(|column| self.width(column) + GAP.len()).sum();
        self.needed(false, LEAST_CUT).saturating_sub(spare) <= width
    }

    /// The width in which no more than the last column is cut, and that one to `least`.
    fn needed(&self, label_above: bool, least: usize) -> usize {
        let before = self.before_last(label_above);
        match self.columns.len().checked_sub(1) {
            Some(_) if self.remarks.is_some() => before.saturating_sub(GAP.len()),
            Some(last) => before + self.width(last).min(least),
            None => 0,
        }
    }

    /// Where the last column begins.
    fn before_last(&self, label_above: bool) -> usize {
        let first = usize::from(label_above);
        let last = self.columns.len().saturating_sub(1);
        let columns = (first..last).map(|column| self.width(column) + GAP.len());
        columns.sum::<usize>() + first * INDENT.len()
    }

    fn lines(&self, layout: Layout, style: Style) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let mut lines = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let (label, row) = row.split_at(usize::from(layout.label_above));
            let (cells, remark, below) = match layout.remark_below {
                Some(room) => {
                    let (cells, remark) = row.split_at(row.len().saturating_sub(1));
                    (cells, if number > 0 { remark } else { &[] }, room)
                }
                None => (row, &[][..], 0),
            };
            // What stands before a remark below is never cut.
            let room = layout.room.filter(|_| layout.remark_below.is_none());
            let text = self.line(cells, label.len(), &widths, room, style);
            if let [label] = label {
                lines.extend([&style.paint(&label.text, label.paint), "\n"]);
            }
            if label.is_empty() {
                lines.extend([&text, "\n"]);
            } else if !text.is_empty() {
                lines.extend([INDENT, &text, "\n"]);
            }
            if let [remark] = remark
                && !remark.text.is_empty()
            {
                let texts = if layout.whole {
                    let lines = keep_words(below).subsequent_indent(GOES_ON);
                    textwrap::wrap(&remark.text, lines).join(&format!("\n{INDENT}"))
                } else {
                    cut(&remark.text, below)
                };
                lines.extend([INDENT, &style.paint(&texts, remark.paint), "\n"]);
            }
        }
        lines
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().map(|row| row[column].text.width()).max().unwrap_or(0)
    }

    /// The cells of a row from column `at` on.
    fn line(
        &self,
        row: &[Cell],
        at: usize,
        widths: &[usize],
        room: Option<usize>,
        style: Style,
    ) -> String {
        let last = at + row.len().saturating_sub(1);
        let mut line = String::new();
        // Padding is owed until more text follows, so that no line ends in spaces.
        let mut owed = 0;
        for (column, cell) in (at..).zip(row) {
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
    }

    /// A table of two rows, of which one has a remark.
    fn remarked(width: usize) -> String {
        remarked_in(Style { width: Some(width), ..Style::default() })
    }

    fn remarked_in(style: Style) -> String {
        let columns = [
            ("path", Align::Left),
            ("n", Align::Right),
            ("percent", Align::Right),
            ("reason", Align::Left),
        ];
        let mut table = Table::new(&columns).sparing(&["percent"]).with_remarks();
        table.row(["switch.yield".into(), "12,345".into(), "100 %".into(), "".into()]);
        let reason = "this kernel has no such thing";
        table.row(["switch.pipe".into(), "".into(), "".into(), reason.into()]);
        table.render(style)
    }

    #[test]
    fn a_remark_without_room_stands_below_its_row() {
        let expected = "\
path               n  percent
switch.yield  12,345    100 %
switch.pipe
    this kernel has no such thing
";
        assert_eq!(remarked(40), expected);
        assert_eq!(remarked(33), expected);
        assert!(remarked(60).contains("\nswitch.pipe                    this kernel"));
    }

    #[test]
    fn a_column_to_spare_is_left_out_and_named() {
        let expected = "\
path               n
switch.yield  12,345
switch.pipe
    this kernel has no…
left out for want of r…
";
        assert_eq!(remarked(23), expected);
        assert!(remarked(26).contains("left out for want of room…"));
    }

    #[test]
    fn a_label_stands_above_its_row_before_numbers_are_cut() {
        let expected = "\
path
         n  percent
switch.yield
    12,345    100 %
switch.pipe
    this kernel ha…
";
        assert_eq!(remarked(19), expected);
    }

    #[test]
    fn at_any_width_nothing_is_wider_and_no_number_is_cut() {
        for width in 19..80 {
            let text = remarked(width);
            assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
            assert!(text.contains("12,345") && text.contains("switch.yield"), "{text}");
        }
    }

    #[test]
    fn in_a_pipe_a_table_fits_and_no_text_is_cut() {
        let expected = "\
path               n
switch.yield  12,345
switch.pipe
    this kernel has no
    … such thing
left out for want of room: percent
";
        let style = Style { table_width: Some(23), ..Style::default() };
        assert_eq!(remarked_in(style), expected);
        assert_eq!(remarked_in(Style::default()).lines().count(), 3);
    }

    #[test]
    fn columns_without_text_are_left_out() {
        let mut table = Table::new(&[("path", Align::Left), ("reason", Align::Left)]);
        table.row(["a.b".into(), "".into()]);
        assert_eq!(table.render(Style::default()), "path\na.b\n");
    }
}
