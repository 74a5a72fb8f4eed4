//! Shares in percent as named bars, one below the other, on one scale from the least to the most.
//! No bar is cut: the longest decides the scale, and each has its number as text.

use super::html::Html;
use crate::picture::Scale;

/// Width of all bars, in their own units.
const WIDTH: f64 = 1000.0;
/// No bar is narrower, so that a small one is seen.
const LEAST: f64 = 3.0;

/// A bar with its name.
pub(super) struct Bar {
    pub(super) name: String,
    /// Its length in percent, or in another unit of all bars, in the direction of its sign.
    pub(super) share: f64,
    /// Percent of another number, which is marked.
    pub(super) mark: Option<f64>,
    /// The text that stands beside the bar.
    pub(super) text: String,
}

/// The bars in their order; nothing without any.
pub(super) fn draw_bars(bars: &[Bar], caption: &str) -> Html {
    let mut html = Html::default();
    if bars.is_empty() {
        return html;
    }
    let scale = scale_of(bars);
    html.raw("<figure class=\"bars\"><ul>");
    for bar in bars {
        html.raw("<li><span class=\"name\">").name(&bar.name).raw("</span>");
        html.add(&picture(&scale, bar)).raw("<span class=\"told\">").name(&bar.text);
        html.raw("</span></li>");
    }
    html.raw("</ul><figcaption>").text(caption).raw("</figcaption></figure>");
    html
}

/// From percent to places in the picture of each of these bars.
fn scale_of(bars: &[Bar]) -> Scale {
    let ends = || bars.iter().flat_map(|bar| [Some(bar.share), bar.mark]).flatten();
    let [least, most] = [ends().fold(0.0, f64::min), ends().fold(0.0, f64::max)];
    let most = if most > least { most } else { least + 1.0 };
    Scale { values: [least, most], places: [0.0, WIDTH] }
}

/// The left end of a bar, and its width.
fn extent(scale: &Scale, share: f64) -> (f64, f64) {
    let (zero, end) = (scale.place(0.0), scale.place(share));
    let width = (end - zero).abs().max(LEAST);
    (if share < 0.0 { zero - width } else { zero }, width)
}

fn picture(scale: &Scale, bar: &Bar) -> Html {
    let mut html = Html::default();
    html.raw("<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    html.raw("<rect class=\"").raw(if bar.share < 0.0 { "lower" } else { "higher" });
    let place = "\" x=\"{}\" y=\"1\" height=\"8\" width=\"{}\"/>";
    let (left, width) = extent(scale, bar.share);
    html.placed(place, &[left, width]);
    html.placed("<path class=\"zero\" d=\"M{} 0V10\"/>", &[scale.place(0.0)]);
    if let Some(mark) = bar.mark {
        html.placed("<path class=\"median\" d=\"M{} 0V10\"/>", &[scale.place(mark)]);
    }
    html.raw("</svg>");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(share: f64) -> Bar {
        Bar { name: "a.b".to_owned(), share, mark: None, text: format!("{share} %") }
    }

    #[test]
    fn the_longest_bar_has_all_the_room_and_none_is_cut() {
        let scale = scale_of(&[bar(364.0), bar(25.0), bar(-91.0)]);
        let extents = [364.0, 182.0, -91.0, 0.01].map(|share| extent(&scale, share));
        assert_eq!(extents[0], (200.0, 800.0));
        assert_eq!(extents[1], (200.0, 400.0), "half as much is half as long");
        assert_eq!(extents[2], (0.0, 200.0));
        assert_eq!(extents[3], (200.0, LEAST));
    }

    #[test]
    fn every_bar_has_its_name_and_its_number_and_no_number_is_nonsense() {
        let html = draw_bars(&[bar(0.0)], "told").into_string();
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
        let html = draw_bars(&[bar(3.0), bar(-4.0)], "told").into_string();
        for text in ["a.<wbr>b", "3 %", "-4 %", "higher", "lower"] {
            assert!(html.contains(text), "{text}: {html}");
        }
        assert_eq!(draw_bars(&[], "told").as_str(), "");
    }
}
