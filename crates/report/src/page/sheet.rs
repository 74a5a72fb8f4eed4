//! A table whose rows open. Each row has a name to which a link leads, and a column without content
//! is left out.

use pathmeter_model::Unit;

use super::data::Data;
use super::html::Html;
use crate::number::unit_word;

/// A column's name, and what its cells are: `text` or `number`.
pub(super) type Heading = (&'static str, &'static str);

pub(super) struct Sheet {
    pub(super) caption: &'static str,
    /// Whether it is sorted and filtered.
    pub(super) sorts: bool,
    /// The first is that of the rows' names.
    pub(super) headings: Vec<Heading>,
    pub(super) rows: Vec<Row>,
}

pub(super) struct Row {
    pub(super) name: String,
    /// By which it is linked to, if no other row of the page is.
    pub(super) anchor: String,
    /// The unit of its numbers, if they are not instructions.
    pub(super) unit: Option<&'static str>,
    /// The class by which it is filtered; empty for none.
    pub(super) verdict: &'static str,
    /// A cell for each heading but the first.
    pub(super) cells: Vec<Cell>,
    /// What the row opens to, if it opens.
    pub(super) details: Option<Html>,
}

pub(super) struct Cell {
    class: String,
    /// By which it is sorted; text if there is none.
    value: Option<String>,
    text: String,
    /// Whether only its begin is shown, since the row opens to all of it.
    is_list: bool,
    /// What is drawn beside the text.
    picture: Html,
}

impl Cell {
    /// A cell with text, of this class.
    pub(super) fn text(class: &str, text: impl Into<String>) -> Self {
        let (class, picture) = (class.to_owned(), Html::default());
        Self { class, value: None, text: text.into(), is_list: false, picture }
    }

    /// The begin of a list.
    pub(super) fn list(class: &str, text: impl Into<String>) -> Self {
        Self { is_list: true, ..Self::text(class, text) }
    }

    /// A number of this class, sorted by its value.
    pub(super) fn number(class: &str, value: &impl ToString, text: impl Into<String>) -> Self {
        let class = format!("n {class}").trim_end().to_owned();
        Self { value: Some(value.to_string()), ..Self::text(&class, text) }
    }

    /// Text that is sorted by a number.
    pub(super) fn ranked(class: &str, rank: &impl ToString, text: impl Into<String>) -> Self {
        Self { value: Some(rank.to_string()), ..Self::text(class, text) }
    }

    /// This cell with a picture beside its text.
    pub(super) fn with_picture(self, picture: Html) -> Self {
        Self { picture, ..self }
    }

    fn html(&self, label: &'static str, opens: bool) -> Html {
        let mut html = Html::default();
        html.raw("<td class=\"").text(&self.class).raw("\" data-label=\"").raw(label).raw("\"");
        if let Some(value) = &self.value {
            html.raw(" data-value=\"").text(value).raw("\"");
        }
        html.raw(">");
        if self.is_list && opens && !self.text.is_empty() {
            html.raw("<span class=\"some\">").name(&self.text).raw("</span>");
        } else {
            html.name(&self.text);
        }
        html.add(&self.picture).raw("</td>");
        html
    }
}

/// The unit of a row, if it is not instructions.
pub(super) fn other_unit(unit: Unit) -> Option<&'static str> {
    (!matches!(unit, Unit::Instructions | Unit::Check)).then(|| unit_word(unit))
}

/// What stands behind the name of a row: its unit, and a link to it.
pub(super) fn draw_unit_and_link(unit: Option<&'static str>, anchor: &str) -> Html {
    let mut html = Html::default();
    if let Some(unit) = unit {
        html.raw(" <span class=\"unit\">").raw(unit).raw("</span>");
    }
    html.raw("<a class=\"link\" aria-label=\"link to this row\" href=\"#").text(anchor);
    html.raw("\"></a>");
    html
}

impl Sheet {
    /// The markup; nothing without rows.
    pub(super) fn html(&self, data: &mut Data) -> Html {
        let mut html = Html::default();
        if self.rows.is_empty() {
            return html;
        }
        let is_told =
            |column: &usize| self.rows.iter().any(|row| !row.cells[*column].text.is_empty());
        let shown: Vec<usize> = (0..self.headings.len() - 1).filter(is_told).collect();
        html.raw("<div class=\"tablebox\">");
        if self.sorts {
            html.raw("<p class=\"filter\"><label>Filter <input type=\"search\" ");
            html.raw("placeholder=\"path or function\"></label> ");
            html.raw("<output aria-live=\"polite\"></output></p>");
        }
        html.raw("<table class=\"paths");
        html.raw(if self.sorts { " sortable" } else { " causes" });
        html.raw("\"><caption class=\"sr\">").raw(self.caption).raw("</caption><thead><tr>");
        let columns = std::iter::once(0).chain(shown.iter().map(|column| column + 1));
        for (heading, kind) in columns.map(|column| self.headings[column]) {
            html.raw("<th scope=\"col\" data-kind=\"").raw(kind).raw("\">");
            html.raw(if self.sorts { "<button type=\"button\">" } else { "<span>" }).raw(heading);
            html.raw(if self.sorts { "</button></th>" } else { "</span></th>" });
        }
        html.raw("</tr></thead>");
        for row in &self.rows {
            html.add(&self.row(row, &shown, data));
        }
        html.raw("</table></div>");
        html
    }

    /// A row, and below it what opens.
    fn row(&self, row: &Row, shown: &[usize], data: &mut Data) -> Html {
        let Row { name, anchor, unit, verdict, cells, details } = row;
        let anchor = data.anchor(anchor);
        let more = format!("{anchor}:more");
        let mut html = Html::default();
        html.raw("<tbody id=\"").text(&anchor).raw("\" class=\"").raw(verdict);
        html.raw("\" data-verdict=\"").raw(verdict).raw("\"><tr><th scope=\"row\">");
        if details.is_some() {
            html.raw("<button type=\"button\" class=\"open\" aria-expanded=\"true\" ");
            html.raw("aria-controls=\"").text(&more).raw("\">").name(name).raw("</button>");
        } else {
            html.raw("<span class=\"open\">").name(name).raw("</span>");
        }
        html.add(&draw_unit_and_link(*unit, &anchor)).raw("</th>");
        for column in shown {
            html.add(&cells[*column].html(self.headings[column + 1].0, details.is_some()));
        }
        html.raw("</tr>");
        if let Some(details) = details {
            html.raw("<tr class=\"detail\" id=\"").text(&more).raw("\"><td colspan=\"");
            html.number(shown.len() as u64 + 1).raw("\">").add(details).raw("</td></tr>");
        }
        html.raw("</tbody>");
        html
    }
}
