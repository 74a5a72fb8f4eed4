//! An interval as a small picture: a dot with whiskers, over the band within which a difference is
//! none. All pictures of a table have one scale. What is far beyond most others has a hollow dot at
//! the end.

use super::html::Html;
use crate::picture::Scale;

/// Half of the picture's width, in its own units.
const HALF: f64 = 110.0;
/// Room for the dot at both ends.
const MARGIN: f64 = 5.0;
/// The part of the intervals' ends that have room, in tenths.
const MOST: usize = 9;

/// How the pictures of a table are drawn.
pub(super) struct Whiskers {
    /// Percent within which a difference is none.
    margin: f64,
    /// The most percent that have room.
    most: f64,
}

impl Whiskers {
    /// Pictures in which most of these intervals have room.
    pub(super) fn of(intervals: impl Iterator<Item = [f64; 2]>, margin: f64) -> Self {
        // A margin from a file may be anything.
        let margin = if margin.is_finite() { margin.abs().max(0.01) } else { 1.0 };
        let mut ends: Vec<f64> = intervals.flatten().map(f64::abs).collect();
        ends.sort_unstable_by(f64::total_cmp);
        let most = ends.get(ends.len().saturating_sub(1) * MOST / 10).copied().unwrap_or(0.0);
        Self { margin, most: most.max(2.0 * margin) }
    }

    fn scale(&self) -> Scale {
        Scale { values: [-self.most, self.most], places: [MARGIN, 2.0 * HALF - MARGIN] }
    }

    /// The picture of a difference in its interval.
    pub(super) fn picture(&self, difference: f64, [low, high]: [f64; 2], told: &str) -> Html {
        let mut html = Html::default();
        let places = [-self.margin, self.margin, low, high, difference];
        let [from, to, low, high, dot] = places.map(|percent| self.scale().place(percent));
        html.raw("<svg class=\"whisker\" viewBox=\"0 0 220 14\" role=\"img\" aria-label=\"");
        html.text(told).raw("\">");
        html.placed("<rect y=\"0\" height=\"14\" x=\"{}\" width=\"{}\"/>", &[from, to - from]);
        html.raw("<path d=\"M110 0V14\"/>");
        let range = "<path class=\"range\" d=\"M{} 7H{}M{} 4V10M{} 4V10\"/>";
        html.placed(range, &[low, high, low, high]);
        html.placed("<circle r=\"3\" cy=\"7\" cx=\"{}", &[dot]);
        html.raw(if difference.abs() > self.most {
            "\" class=\"beyond\"/></svg>"
        } else {
            "\"/></svg>"
        });
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_ascend_with_the_percentage_and_what_is_far_beyond_is_at_the_end() {
        let drawn = Whiskers::of([[-5.0, 300.0], [0.5, 0.7], [1.0, 2.0]].into_iter(), 2.0);
        assert!((drawn.most - 5.0).abs() < 1e-9);
        let places =
            [-400.0, -5.0, -2.0, 0.0, 0.5, 2.0, 300.0].map(|percent| drawn.scale().place(percent));
        assert!(places.is_sorted(), "{places:?}");
        assert!(places[0] >= MARGIN && places[6] <= 2.0 * HALF - MARGIN, "{places:?}");
        assert!((places[3] - HALF).abs() < 1e-9);
        let picture = |difference| drawn.picture(difference, [0.0, 9.0], "").into_string();
        assert!(picture(6.0).contains("beyond") && !picture(4.0).contains("beyond"));
    }

    #[test]
    fn a_margin_that_is_none_draws_no_nonsense() {
        for margin in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let drawn = Whiskers::of([[-1.0, 1.0]].into_iter(), margin);
            let picture = drawn.picture(0.0, [-1.0, 1.0], "told").into_string();
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        }
    }
}
