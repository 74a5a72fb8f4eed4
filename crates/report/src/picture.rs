//! What the pictures have in common: scales from values to places, marks at places, and the frame
//! of a picture that stands by itself.

use std::fmt::Display;

use pathmeter_model::float;

use crate::xml::escaped;

/// From values to places, in proportion. What is beyond an end is at that end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// The values of both ends.
    pub(crate) values: [f64; 2],
    /// The places of both ends.
    pub(crate) places: [f64; 2],
}

impl Scale {
    pub(crate) fn of(values: [u64; 2], places: [f64; 2]) -> Self {
        Self { values: values.map(float), places }
    }

    /// The place of a value; the middle if both ends have one value.
    #[allow(clippy::float_cmp, reason = "only the same value can't be divided by")]
    pub(crate) fn place(&self, value: f64) -> f64 {
        let Self { values: [first, last], places: [begin, end] } = *self;
        if first == last {
            return f64::midpoint(begin, end);
        }
        let place = begin + (end - begin) * (value - first) / (last - first);
        place.clamp(begin.min(end), begin.max(end))
    }

    pub(crate) fn place_count(&self, count: u64) -> f64 {
        self.place(float(count))
    }
}

/// The least and the most of these differences, and of none.
pub(crate) fn ends<'a>(differences: impl Iterator<Item = &'a i64>) -> [i64; 2] {
    differences.fold([0, 0], |[low, high], it| [low.min(*it), high.max(*it)])
}

/// From differences between such ends to heights, of which the first is that of the most.
#[allow(clippy::cast_precision_loss, reason = "places in a picture")]
pub(crate) fn heights(ends: [i64; 2], places: [f64; 2]) -> impl Fn(i64) -> f64 {
    let [low, high] = ends.map(|end| end as f64);
    let scale = Scale { values: [high, low.min(high - 1.0)], places };
    move |difference| scale.place(difference as f64)
}

/// `markup` with the next of these places, in tenths, for each `{}` in it.
pub(crate) fn placed(markup: &str, places: &[f64]) -> String {
    let mut parts = markup.split("{}");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.zip(places);
    rest.fold(first, |text, (part, place)| format!("{text}{place:.1}{part}"))
}

/// The file of a picture with this title, size and style.
pub(crate) fn file<N: Display>(title: &str, size: [N; 2], style: &str, body: &str) -> String {
    let ([width, height], title) = (size, escaped(title));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n<title>{title}</title>\n\
         <style>{style}</style>\n{body}</svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_proportion_and_never_beyond_an_end() {
        let scale = Scale::of([10, 20], [100.0, 0.0]);
        let places = [0, 10, 15, 99].map(|it| scale.place_count(it).to_string());
        assert_eq!(places, ["100", "100", "50", "0"]);
        assert_eq!(Scale::of([3, 3], [0.0, 8.0]).place_count(3).to_string(), "4");
    }

    #[test]
    fn marks_have_their_places_in_order() {
        assert_eq!(placed("M{} {}H{}\"/>", &[1.0, 2.26, -3.0]), "M1.0 2.3H-3.0\"/>");
    }
}
