//! Values over results as lines: the ends of both axes are named, and so is the largest step. All
//! that is read stands beside the picture as text, so that it has the page's size on any screen.

use super::html::Html;
use crate::largest_step::{Step, find_largest_step, larger_of, share};
use crate::number::percent;
use crate::picture::Scale;

/// Size of the picture, in its own units.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 64.0;
const MARGIN: f64 = 6.0;

/// A value at its place.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// From 0, from left to right.
    pub(super) at: usize,
    pub(super) value: u64,
    /// Of which result it is.
    pub(super) about: &'a str,
}

pub(super) struct Chart<'a> {
    pub(super) name: &'a str,
    /// The lines, each from left to right.
    pub(super) lines: &'a [Vec<Place<'a>>],
    /// How many places there are.
    pub(super) places: usize,
    /// What stands below the first place and below the last.
    pub(super) ends: [&'a str; 2],
    /// A value with its digits, and its unit if the name has none.
    pub(super) amount: &'a dyn Fn(u64) -> String,
}

pub(super) fn draw_chart(chart: &Chart<'_>) -> Html {
    let mut html = Html::default();
    let values = || chart.lines.iter().flatten().map(|place| place.value);
    let (Some(least), Some(most)) = (values().min(), values().max()) else { return html };
    let step = larger_of(chart.lines.iter().filter_map(|line| step_of(line)));
    html.raw("<figure class=\"line\"><figcaption><b>").name(chart.name).raw("</b> <span>");
    html.text(&chart.range()).raw("</span></figcaption><div class=\"plot\">");
    html.raw("<span class=\"most\">").text(&(chart.amount)(most)).raw("</span>");
    html.raw("<span class=\"least\">");
    html.text(&if least == most { String::new() } else { (chart.amount)(least) }).raw("</span>");
    html.add(&chart.picture(least, most, step.as_ref()));
    html.raw("<span class=\"first\">").name(chart.ends[0]).raw("</span>");
    html.raw("<span class=\"last\">").name(chart.ends[1]).raw("</span></div>");
    if let Some(step) = step {
        html.raw("<p class=\"note\">largest step: ").text(&percent(step.share)).raw(" at ");
        html.name(chart.name_at(step.to)).raw("</p>");
    }
    html.raw("</figure>");
    html
}

fn step_of(line: &[Place<'_>]) -> Option<Step> {
    find_largest_step(&line.iter().map(|place| (place.at, place.value)).collect::<Vec<_>>())
}

impl Chart<'_> {
    /// `3,210 → 3,400 (+5.92 %)`, first to last, of the only line.
    fn range(&self) -> String {
        let mut lines = self.lines.iter().filter(|line| !line.is_empty());
        let (Some(line), None) = (lines.next(), lines.next()) else { return String::new() };
        let (Some(first), Some(last)) = (line.first(), line.last()) else { return String::new() };
        let amount = self.amount;
        match percent(share(first.value, last.value)) {
            none if none.is_empty() => amount(first.value),
            part => format!("{} → {} ({part})", amount(first.value), amount(last.value)),
        }
    }

    /// Of which result the value at a place is.
    fn name_at(&self, at: usize) -> &str {
        let mut places = self.lines.iter().flatten();
        places.find(|place| place.at == at).map_or("", |place| place.about)
    }

    fn picture(&self, least: u64, most: u64, step: Option<&Step>) -> Html {
        let last = self.places.saturating_sub(1).max(1);
        let across = Scale::of([0, last as u64], [MARGIN, WIDTH - MARGIN]);
        let up = Scale::of([least, most], [HEIGHT - MARGIN, MARGIN]);
        let x = |at: usize| across.place_count(at as u64);
        let places = |it: &Place<'_>| [x(it.at), up.place_count(it.value)];
        let mut html = Html::default();
        html.raw("<svg viewBox=\"0 0 240 64\" role=\"img\" aria-label=\"").text(self.name);
        html.raw("\">");
        if let Some(Step { from, to, .. }) = step {
            let [left, right] = [*from, *to].map(x);
            let mark = "<rect class=\"step\" y=\"0\" height=\"64\" x=\"{}\" width=\"{}\"/>";
            html.placed(mark, &[left, (right - left).max(1.0)]);
        }
        for line in self.lines {
            html.raw("<polyline points=\"");
            for place in line {
                html.placed("{},{} ", &places(place));
            }
            html.raw("\"/>");
        }
        for place in self.lines.iter().flatten() {
            html.placed("<circle r=\"3\" cx=\"{}\" cy=\"{}\"><title>", &places(place));
            html.text(place.about).raw(": ").text(&(self.amount)(place.value));
            html.raw("</title></circle>");
        }
        html.raw("</svg>");
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::grouped;

    fn line(values: &[(usize, u64)]) -> Vec<Place<'static>> {
        let about = ["6.1", "6.6", "6.12", "7.0"];
        values.iter().map(|&(at, value)| Place { at, value, about: about[at] }).collect()
    }

    fn draw_lines(lines: &[Vec<Place<'_>>]) -> String {
        let ends = ["2026-01-01", "2026-07-01"];
        draw_chart(&Chart { name: "a.b", lines, places: 4, ends, amount: &grouped }).into_string()
    }

    #[test]
    fn a_line_names_the_ends_of_its_axes_and_its_largest_step() {
        let html = draw_lines(&[line(&[(0, 1000), (1, 1010), (2, 1300), (3, 1290)])]);
        for text in [
            "1,000 → 1,290 (+29.00 %)",
            "most\">1,300<",
            "least\">1,000<",
            "2026-01-01",
            "2026-07-01",
        ] {
            assert!(html.contains(text), "{text}: {html}");
        }
        assert!(html.contains("largest step: +28.71 % at 6.12"), "{html}");
    }

    #[test]
    fn no_step_goes_from_line_to_line() {
        let html = draw_lines(&[line(&[(0, 1000), (2, 1010)]), line(&[(1, 9000), (3, 9000)])]);
        assert!(html.contains("largest step: +1.00 % at 6.12"), "{html}");
        assert_eq!(html.matches("<polyline").count(), 2);
        let flat = draw_lines(&[line(&[(0, 7), (3, 7)])]);
        assert!(!flat.contains("largest step") && flat.contains("<span>7</span>"), "{flat}");
        assert_eq!(draw_lines(&[]), "");
    }
}
