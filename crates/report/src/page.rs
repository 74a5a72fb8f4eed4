//! Documents as one page of HTML that opens offline: no request leaves it.
//!
//! Contract: everything that came from a guest or a document is escaped ([`html`]), and the page's
//! own policy (Content-Security-Policy) admits its one script and its one style sheet by their
//! hashes and nothing else, so that markup which came in all the same could neither run nor load
//! anything. All numbers are there without the script; with it tables sort and filter, details
//! open, the heat map shows any kernel's differences, and call trees are drawn.

mod bars;
mod causes;
mod changes;
mod chart;
mod data;
mod experiment;
mod fingerprint;
pub(crate) mod history;
mod html;
mod joined;
mod kept;
mod program_slope;
mod settings;
mod sheet;
mod single;
mod slope;
mod times;
mod whisker;
mod window;

use pathmeter_experiment::ExperimentReport;
use pathmeter_model::{
    Comparison, Configuration, History, Joined, Measurement, ProgramSlopeResult, SettingsResult,
    SlopeResult, TimeComparison, Times, Unit,
};
use pathmeter_trace::{Explain, SubjectWindow};
use sha2::{Digest, Sha256};

use crate::headline;
use crate::measured_with::{measured_with, of_two};
use crate::shades::{COLOURS, SHADES};
use data::Data;
use html::Html;

const TEMPLATE: &str = include_str!("page/template.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// The first words of a page of counts.
const COUNTS: &str = "Numbers are exact counts of instructions, the same on every machine. They \
                      are not times.";

/// Most results that one heat map compares: all pairs are on the page.
pub const MOST_RESULTS: usize = 40;

/// A part of a page, in the order that it is shown.
#[derive(Debug, Clone)]
pub enum PageSection {
    /// The counts of one subject.
    Result {
        result: Box<Measurement>,
        /// A window of each path that was recorded; each of one window.
        windows: Vec<Explain>,
    },
    /// Two subjects, which are compared.
    Comparison {
        /// The comparison of all paths.
        comparison: Box<Comparison>,
        /// Differences of those that were recorded.
        explanations: Vec<Explain>,
        /// The results that were compared, if they are at hand.
        results: Vec<Measurement>,
    },
    /// Three subjects or more, in the order of the map; at most [`MOST_RESULTS`].
    History {
        results: Vec<Measurement>,
        /// For each result what was recorded of it; empty if nothing was.
        windows: Vec<Vec<SubjectWindow>>,
        /// Pairs of results with their causes, by the places of both: the first and the last, and
        /// neighbours, as far as the functions are known.
        explained: Vec<(usize, usize, Comparison)>,
        /// In what else than the kernel they differ, a line each.
        across: Vec<String>,
    },
    /// What a history holds, by date.
    Kept(Box<History>),
    /// A recorded window or difference by itself.
    Explanation(Box<Explain>),
    /// An experiment, with the judgements of its expectations.
    Experiment(Box<ExperimentReport>),
    /// What the settings of one kernel cost.
    Settings(Box<SettingsResult>),
    /// What a kernel costs by the number of a setting.
    Slope(Box<SlopeResult>),
    /// What a program costs by a number among its arguments.
    ProgramSlope(Box<ProgramSlopeResult>),
    /// Times of a session on a machine.
    Times {
        /// All of it, since what is subtracted of all paths is a path of it.
        times: Box<Times>,
        /// The paths that are shown.
        shown: Vec<String>,
    },
    TimeComparison {
        /// The comparison of all paths.
        comparison: Box<TimeComparison>,
        /// In what else than the kernel they differ, a line each.
        across: Vec<String>,
    },
    /// What counts and times of the same two sides mean together.
    Joined(Box<Joined>),
}

/// A page, and the sentence that it begins with.
#[derive(Debug)]
pub struct Page {
    pub html: String,
    pub headline: String,
}

/// The page of these sections, which begins with the first one's headline. `notes` is what the
/// reader must know besides, a line each.
///
/// # Errors
/// The page's data can't be written as JSON, which no data of these types should cause.
pub fn report_page(sections: &[PageSection], notes: &[String]) -> Result<Page, serde_json::Error> {
    let mut data = Data::default();
    let mut body = Html::default();
    let mut headlines = Vec::new();
    for (number, section) in sections.iter().enumerate() {
        let (headline, part) = section.draw(&mut data);
        body.raw("<section class=\"part\">");
        if number > 0 {
            body.raw("<h2>").text(&headline).raw("</h2>");
        }
        body.add(&part).raw("</section>");
        headlines.push(headline);
    }
    let first = headlines.into_iter().next().unwrap_or_else(|| "There is nothing to show.".into());
    let mut json = Html::default();
    json.json(&data)?;
    let style = format!("{COLOURS}{STYLE}");
    let parts = [
        ("script-hash", hash(SCRIPT)),
        ("style-hash", hash(&style)),
        ("title", escaped(&format!("{first} – pathmeter"))),
        ("style", style),
        ("shades", SHADES.map(|limit| limit.to_string()).join(" ")),
        ("script", SCRIPT.to_owned()),
        ("headline", escaped(&first)),
        ("about", escaped(&about(sections))),
        ("notes", noted(notes)),
        ("body", body.into_string()),
        ("data", json.into_string()),
    ];
    Ok(Page { html: filled(&parts), headline: first })
}

impl PageSection {
    /// The headline of this section, and the HTML that stands below it.
    fn draw(&self, data: &mut Data) -> (String, Html) {
        let mut html = Html::default();
        let headline = match self {
            Self::Result { result, windows } => {
                html.add(&changes::of_results([&**result]));
                html.add(&single::section(result, windows, data));
                html.add(&folded(&fingerprint::of_results(&[&**result])));
                single::headline(result)
            }
            Self::Comparison { comparison, explanations, results } => {
                return draw_comparison(comparison, explanations, results, data);
            }
            Self::History { results, windows, explained, across } => {
                let given = history::Given { results, windows, explained };
                return over_results(given, across.clone(), data);
            }
            Self::Kept(history) => {
                html.add(&kept::section(history));
                kept::headline(history)
            }
            Self::Explanation(explain) => {
                let new = explain.new.as_ref().unwrap_or(&explain.base);
                let sides = [&explain.base, new].map(|side| side.measured_with.as_ref());
                html.add(&changes::note_measured_with(of_two(sides[0], sides[1])));
                html.add(&window::explanation(explain, data));
                headline::describe_explanation(explain)
            }
            Self::Experiment(report) => {
                html.add(&experiment::section(report));
                experiment::headline(report)
            }
            Self::Times { times, shown } => {
                html.add(&times::section(times, shown, data));
                times::headline(times, shown)
            }
            Self::TimeComparison { comparison, across } => {
                html.add(&times::draw_comparison(comparison, across, data));
                times::headline_of_two(comparison)
            }
            Self::Joined(joined) => {
                html.add(&joined::section(joined, data));
                crate::joined::sentence(joined)
            }
            Self::Settings(result) => {
                html = of_kernel(&result.configuration, &settings::section(result, data));
                crate::settings::sentence(result)
            }
            Self::Slope(result) => {
                html = of_kernel(&result.configuration, &slope::section(result, data));
                slope::headline(result)
            }
            Self::ProgramSlope(result) => {
                html = of_kernel(&result.configuration, &program_slope::draw_section(result, data));
                program_slope::write_headline(result)
            }
        };
        (headline, html)
    }
}

/// The headline of a comparison, and the HTML that stands below it.
fn draw_comparison(
    comparison: &Comparison,
    explanations: &[Explain],
    results: &[Measurement],
    data: &mut Data,
) -> (String, Html) {
    let mut html = changes::section(comparison, explanations, data);
    html.add(&folded(&fingerprint(comparison, results)));
    let headline = headline::describe(comparison, explanations);
    (headline, html)
}

/// Paths over several results, their headline first.
fn over_results(given: history::Given<'_>, across: Vec<String>, data: &mut Data) -> (String, Html) {
    let results: Vec<&Measurement> = given.results.iter().collect();
    let compared = history::Compared::new(given);
    let mut html = compared.section(across, data);
    html.add(&folded(&fingerprint::of_results(&results)));
    (compared.headline(), html)
}

/// A section about one kernel, between its setup in short and in full.
fn of_kernel(configuration: &Configuration, section: &Html) -> Html {
    let mut html = changes::note_measured_with(vec![measured_with(&configuration.measured_with())]);
    html.add(section);
    html.add(&folded(&fingerprint::of_configuration(configuration)));
    html
}

/// The setup of both sides of a comparison, from their results if they are at hand.
fn fingerprint(comparison: &Comparison, results: &[Measurement]) -> Html {
    match results {
        [] => fingerprint::of_comparison(comparison),
        results => fingerprint::of_results(&results.iter().collect::<Vec<_>>()),
    }
}

/// Whether the numbers of these sections are counts, times or both.
fn about(sections: &[PageSection]) -> String {
    let timed = |section: &PageSection| {
        matches!(section, PageSection::Times { .. } | PageSection::TimeComparison { .. })
    };
    let both = |section: &PageSection| match section {
        PageSection::Joined(_) => true,
        PageSection::Kept(history) => {
            let mut points = history.paths.iter().flat_map(|path| path.points.iter().flatten());
            points.any(|point| point.unit == Unit::Ps)
        }
        _ => false,
    };
    let counts = sections.is_empty() || sections.iter().any(|section| !timed(section));
    let times = sections.iter().any(|section| timed(section) || both(section));
    let all = [(counts, COUNTS), (times, times::ABOUT)].into_iter().filter(|(holds, _)| *holds);
    all.map(|(_, about)| about).collect::<Vec<_>>().join(" ")
}

/// The fingerprint, to be opened.
fn folded(fingerprint: &Html) -> Html {
    let mut html = Html::default();
    html.raw(
        "<details class=\"fingerprints\"><summary>Configuration fingerprint: everything that ",
    );
    html.raw("these results depend on</summary>").add(fingerprint).raw("</details>");
    html
}

fn noted(notes: &[String]) -> String {
    let mut html = Html::default();
    if !notes.is_empty() {
        html.raw("<ul class=\"warning\">");
        for note in notes {
            html.raw("<li>").text(note).raw("</li>");
        }
        html.raw("</ul>");
    }
    html.into_string()
}

fn escaped(text: &str) -> String {
    let mut html = Html::default();
    html.text(text);
    html.into_string()
}

/// The template with these parts in their places. One pass: what a part holds is not looked at.
fn filled(parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        page.extend(parts.iter().find(|(part, _)| *part == name).map(|(_, text)| text.as_str()));
        rest = after;
    }
    page.push_str(rest);
    page
}

/// The hash by which a policy admits a script or a style sheet (W3C CSP 3, 2.3.1).
fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

/// The encoding of RFC 4648, section 4, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let place = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit <= chunk.len() { char::from(DIGITS[place as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let texts =
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|it| base64(it.as_bytes()));
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn what_fills_a_place_is_not_filled_again() {
        let page = filled(&[("title", "{{body}}".into()), ("body", "<i>".into())]);
        assert!(page.contains("<title>{{body}}</title>") && page.contains("<main>\n<i></main>"));
    }

    #[test]
    fn neither_script_nor_style_ends_its_element() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</"));
    }
}
