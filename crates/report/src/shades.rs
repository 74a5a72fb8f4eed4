//! The shades of a change: their limits, their classes, their colours, and how they are explained.

use pathmeter_model::Verdict;

/// Percent from which a change has the second, third and fourth shade.
pub(crate) const SHADES: [f64; 3] = [1.0, 5.0, 20.0];

/// The colours of the classes, as variables of these names, light and dark.
pub(crate) const COLOURS: &str = include_str!("shades.css");

const LESS: [&str; 4] = ["down1", "down2", "down3", "down4"];
const MORE: [&str; 4] = ["up1", "up2", "up3", "up4"];
const EVENTS: &str = "events";

/// What the signs in cells without a number stand for.
pub(crate) const SIGNS: &str =
    "· same; e: as many instructions, other events differ; –: not measured";

/// The class that colours a change of so many percent. The sign of the percentage decides between
/// more and less, since that is what stands in the cell: a new mode may be below the old one.
pub(crate) fn shade(verdict: Verdict, percent: Option<f64>) -> &'static str {
    let strength =
        percent.map_or(0, |percent| SHADES.iter().filter(|it| percent.abs() >= **it).count());
    let is_change = !matches!(
        verdict,
        Verdict::Same | Verdict::Unsupported | Verdict::Broken | Verdict::EventsDiffer
    );
    match verdict {
        _ if is_change && percent.is_some_and(|it| it < 0.0) => LESS[strength],
        _ if is_change && percent.is_some_and(|it| it > 0.0) => MORE[strength],
        Verdict::Same => "",
        Verdict::Unsupported => "none",
        Verdict::Broken => "broken",
        Verdict::EventsDiffer => EVENTS,
        Verdict::Higher | Verdict::ModeAppeared | Verdict::LongerTail => MORE[strength],
        Verdict::Lower | Verdict::ShorterTail => LESS[strength],
    }
}

/// Every shade with the percent from which on it is, from the most that a path can cost less to the
/// most that it can cost more.
pub(crate) fn legend() -> Vec<(&'static str, String)> {
    let limits = |sign: &str| SHADES.map(|limit| format!("{sign}{limit}"));
    let less = LESS.into_iter().zip(["< 0".to_owned()].into_iter().chain(limits("≤ −")));
    let more = MORE.into_iter().zip(["> 0".to_owned()].into_iter().chain(limits("≥ +")));
    let less: Vec<_> = less.collect();
    less.into_iter().rev().chain(more).chain([(EVENTS, "e".to_owned())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legend_has_every_shade_with_its_limit() {
        let legend = legend();
        let words: Vec<&str> = legend.iter().map(|(_, text)| text.as_str()).collect();
        let all = ["≤ −20", "≤ −5", "≤ −1", "< 0", "> 0", "≥ +1", "≥ +5", "≥ +20", "e"];
        assert_eq!(words, all);
        let shades = [(Verdict::Lower, -20.0), (Verdict::Higher, 0.5), (Verdict::Higher, 5.0)];
        let classes = shades.map(|(verdict, percent)| shade(verdict, Some(percent)));
        assert_eq!(classes, [legend[0].0, legend[4].0, legend[6].0]);
        for verdict in [Verdict::ModeAppeared, Verdict::LongerTail, Verdict::ShorterTail] {
            let of = |percent| shade(verdict, Some(percent));
            assert_eq!([of(-5.0), of(5.0)], [legend[1].0, legend[6].0], "{verdict}");
        }
        assert_eq!(shade(Verdict::LongerTail, Some(0.0)), "up1");
        for (class, _) in legend {
            assert_eq!(COLOURS.matches(&format!("--{class}: ")).count(), 2, "light and dark");
        }
    }
}
