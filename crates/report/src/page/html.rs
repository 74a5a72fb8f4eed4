//! Markup that can't be broken by what stands in it.
//!
//! Contract: what is not a literal of this program's source is escaped. [`Html::raw`] takes
//! literals alone, and [`Html::text`] everything else, between tags and in quoted attributes alike.

use serde::Serialize;

use crate::picture::placed;
use crate::xml::escaped;

/// Markup under construction; what is no literal is escaped.
#[derive(Clone, Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// A literal, as it is.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text that came from anywhere, without its control characters; fit for quoted attributes too.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&escaped(text));
        self
    }

    /// A name, or text with names, between tags: a line may end after a dot too, and not within the
    /// words on its sides. Browsers themselves end lines at spaces and after hyphens.
    pub(super) fn name(&mut self, text: &str) -> &mut Self {
        let mut rest = text;
        while let Some(dot) = rest.find('.') {
            let (before, after) = (&rest[..dot], &rest[dot + 1..]);
            self.text(before).raw(".");
            // Not in a number, nor before a file's ending that stands by itself.
            if before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphabetic) {
                self.raw("<wbr>");
            }
            rest = after;
        }
        self.text(rest)
    }

    /// A whole number without grouping, for attributes.
    pub(super) fn number(&mut self, number: impl Into<i128>) -> &mut Self {
        self.0.push_str(&number.into().to_string());
        self
    }

    /// A literal with the next of these places of a picture for each `{}` in it.
    pub(super) fn placed(&mut self, markup: &'static str, places: &[f64]) -> &mut Self {
        self.0.push_str(&placed(markup, places));
        self
    }

    /// Markup that was made by these rules.
    pub(super) fn add(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// `document` for a `script` element that holds data: no `<` is left in it, so it can end
    /// neither the element nor, by `<!--`, change how it is read.
    ///
    /// # Errors
    /// It can't be written as JSON.
    pub(super) fn json(
        &mut self,
        document: &impl Serialize,
    ) -> Result<&mut Self, serde_json::Error> {
        for character in serde_json::to_string(document)?.chars() {
            match character {
                '<' => self.0.push_str("\\u003c"),
                '>' => self.0.push_str("\\u003e"),
                '&' => self.0.push_str("\\u0026"),
                '\u{2028}' => self.0.push_str("\\u2028"),
                '\u{2029}' => self.0.push_str("\\u2029"),
                other => self.0.push(other),
            }
        }
        Ok(self)
    }

    /// A row of headings; those of numbers begin with a `#`.
    pub(super) fn headings(&mut self, headings: &[&'static str]) -> &mut Self {
        self.raw("<thead><tr>");
        for heading in headings {
            let number = heading.strip_prefix('#');
            self.raw(if number.is_some() {
                "<th scope=\"col\" class=\"n\">"
            } else {
                "<th scope=\"col\">"
            });
            self.raw(number.unwrap_or(heading)).raw("</th>");
        }
        self.raw("</tr></thead>")
    }

    /// A cell with a number, or with nothing.
    pub(super) fn figure(&mut self, text: &str) -> &mut Self {
        self.raw("<td class=\"n\">").text(text).raw("</td>")
    }

    /// A cell of a table with text.
    pub(super) fn cell(&mut self, text: &str) -> &mut Self {
        self.raw("<td>").name(text).raw("</td>")
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }

    /// All of it so far.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_can_neither_open_a_tag_nor_end_an_attribute() {
        let mut html = Html::default();
        html.raw("<b title=\"").text("\"'><script>&\u{1b}[0m").raw("\">");
        let expected = "<b title=\"&quot;&#39;&gt;&lt;script&gt;&amp;\\u{1b}[0m\">";
        assert_eq!(html.as_str(), expected);
    }

    #[test]
    fn a_line_may_end_after_the_dots_of_a_name() {
        let name = |text| {
            let mut html = Html::default();
            html.name(text);
            html.into_string()
        };
        assert_eq!(name("file.open-close"), "file.<wbr>open-close");
        assert_eq!(name("a.b.c, <d>. E +1.5 %"), "a.<wbr>b.<wbr>c, &lt;d&gt;. E +1.5 %");
        assert_eq!(name(".config and end."), ".config and end.");
    }

    #[test]
    fn data_can_not_end_its_element_and_stays_the_same() {
        let hostile = "</script><!--<script>\u{2028}&\"\\";
        let mut html = Html::default();
        html.json(&hostile).unwrap();
        assert!(!html.as_str().contains(['<', '>', '&', '\u{2028}']), "{}", html.as_str());
        assert_eq!(serde_json::from_str::<String>(html.as_str()).unwrap(), hostile);
    }
}
