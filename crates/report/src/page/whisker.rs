//! An interval as a small picture: a dot with whiskers, over the band within which a difference is
//! none. All pictures of a table have one scale. What is far beyond most others has a hollow dot at
//! the end.

use super::html::Html;

/// Half of the picture's width, in its own units.
const HALF: f64 = 110.0;
/// Room for the dot at both ends.
const MARGIN: f64 = 5.0;
/// The part of the intervals' ends that have room, in tenths.
const MOST: usize = 9;

/// Turns percent into places in a picture.
pub(super) struct Scale {
    /// Percent within which a difference is none.
    margin: f64,
    /// The most percent that have room.
    most: f64,
}

impl Scale {
    /// A scale in which most of these intervals have room.
    pub(super) fn of(intervals: impl Iterator<Item = [f64; 2]>, margin: f64) -> Self {
        // A margin from a file may be anything.
        let margin = if margin.is_finite() { margin.abs().max(0.01) } else { 1.0 };
        let mut ends: Vec<f64> = intervals.flatten().map(f64::abs).collect();
        ends.sort_unstable_by(f64::total_cmp);
        let most = ends.get(ends.len().saturating_sub(1) * MOST / 10).copied().unwrap_or(0.0);
        Self { margin, most: most.max(2.0 * margin) }
    }

    fn x(&self, percent: f64) -> f64 {
        HALF + (HALF - MARGIN) * (percent / self.most).clamp(-1.0, 1.0)
    }

    /// The picture of a difference in its interval.
    pub(super) fn picture(&self, difference: f64, [low, high]: [f64; 2], told: &str) -> Html {
        let mut html = Html::default();
        let [from, to] = [-self.margin, self.margin].map(|end| self.x(end));
        let [low, high, dot] = [low, high, difference].map(|percent| self.x(percent));
        let place = |place: f64| format!("{place:.1}");
        html.raw("<svg class=\"whisker\" viewBox=\"0 0 220 14\" role=\"img\" aria-label=\"");
        html.text(told).raw("\"><rect y=\"0\" height=\"14\" x=\"");
        html.text(&place(from)).raw("\" width=\"").text(&place(to - from)).raw("\"/>");
        html.raw("<path d=\"M110 0V14\"/><path class=\"range\" d=\"M").text(&place(low));
        html.raw(" 7H").text(&place(high)).raw("M").text(&place(low)).raw(" 4V10M");
        html.text(&place(high)).raw(" 4V10\"/><circle r=\"3\" cy=\"7\" cx=\"").text(&place(dot));
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
        let scale = Scale::of([[-5.0, 300.0], [0.5, 0.7], [1.0, 2.0]].into_iter(), 2.0);
        assert!((scale.most - 5.0).abs() < 1e-9);
        let places = [-400.0, -5.0, -2.0, 0.0, 0.5, 2.0, 300.0].map(|percent| scale.x(percent));
        assert!(places.is_sorted(), "{places:?}");
        assert!(places[0] >= MARGIN && places[6] <= 2.0 * HALF - MARGIN, "{places:?}");
        assert!((places[3] - HALF).abs() < 1e-9);
        let picture = |difference| scale.picture(difference, [0.0, 9.0], "").into_string();
        assert!(picture(6.0).contains("beyond") && !picture(4.0).contains("beyond"));
    }

    #[test]
    fn a_margin_that_is_none_draws_no_nonsense() {
        for margin in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let scale = Scale::of([[-1.0, 1.0]].into_iter(), margin);
            let picture = scale.picture(0.0, [-1.0, 1.0], "told").into_string();
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        }
    }
}
