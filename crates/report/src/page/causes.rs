//! The causes of a comparison on the page, and a picture of all rows: a bar each, by size.

use pathmeter_model::{Comparison, PathComparison};

use super::html::Html;
use crate::causes::{lines, origin};
use crate::number::percent;

/// The picture's size, in its own units.
const WIDTH: usize = 960;
const HEIGHT: usize = 72;
/// A change of so many percent has the full height; larger ones are cut there.
const FULL: f64 = 25.0;

/// The first causes in a sentence, and their table; nothing if functions are not known.
pub(super) fn table(comparison: &Comparison) -> Html {
    let mut html = Html::default();
    let Some(causes) = comparison.causes.as_ref().filter(|it| !it.causes.is_empty()) else {
        return html;
    };
    html.raw("<p class=\"lead\">").text(&origin(comparison).unwrap_or_default()).raw("</p>");
    let lines = lines(causes);
    html.raw("<div class=\"scroll\"><table class=\"causes\"><caption>What the differences come ");
    html.raw("from, over all rows</caption>");
    let headings =
        ["#share", "#rows", "#instructions", "each", "kind of work", "functions, other events"];
    html.headings(&headings).raw("<tbody>");
    for line in lines.shown {
        html.raw("<tr>");
        html.figure(&line.share).figure(&line.rows).figure(&line.in_all).cell(&line.each);
        html.cell(&line.area).cell(&line.functions).raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    for note in lines.notes {
        html.raw("<p class=\"note\">").text(&note).raw("</p>");
    }
    html
}

/// A bar for each row that differs, from the largest decrease to the largest increase; the median
/// of all rows that were compared is marked.
pub(super) fn picture(comparison: &Comparison) -> Html {
    let mut html = Html::default();
    let mut rows: Vec<(&PathComparison, f64)> =
        comparison.paths.iter().filter_map(|path| Some((path, path.percent?))).collect();
    rows.sort_by(|one, other| one.1.total_cmp(&other.1));
    if rows.iter().all(|(_, percent)| *percent == 0.0) {
        return html;
    }
    let step = WIDTH / rows.len().max(1);
    html.raw("<figure class=\"bars\"><svg role=\"img\" viewBox=\"0 0 ").number(WIDTH as u64);
    html.raw(" ").number(HEIGHT as u64).raw("\" aria-label=\"change of each row\">");
    for (place, (path, change)) in rows.iter().enumerate() {
        html.add(&bar(place * step, step, path, *change));
    }
    let middle = rows.len() / 2;
    html.raw("<line class=\"median\" x1=\"").number((middle * step + step / 2) as u64);
    html.raw("\" x2=\"").number((middle * step + step / 2) as u64);
    html.raw("\" y1=\"0\" y2=\"").number(HEIGHT as u64).raw("\"/></svg><figcaption>");
    html.text(&format!(
        "{} rows by their change; dashed: the median, {}; full height: 25 % or more",
        rows.len(),
        Some(percent(rows[middle].1)).filter(|it| !it.is_empty()).unwrap_or("0 %".to_owned())
    ));
    html.raw("</figcaption></figure>");
    html
}

/// A bar up for more, down for less.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "at most half the picture's height, and not negative"
)]
fn bar(left: usize, step: usize, path: &PathComparison, change: f64) -> Html {
    let half = HEIGHT / 2;
    let size = ((change.abs() / FULL).min(1.0) * half as f64).ceil() as usize;
    let top = if change > 0.0 { half - size } else { half };
    let mut html = Html::default();
    html.raw("<rect class=\"").raw(if change > 0.0 { "higher" } else { "lower" });
    html.raw("\" x=\"").number(left as u64).raw("\" y=\"").number(top as u64);
    html.raw("\" width=\"").number(step.saturating_sub(2).max(1) as u64);
    html.raw("\" height=\"").number(size as u64).raw("\"><title>");
    html.text(&format!("{} {}", path.path, percent(change))).raw("</title></rect>");
    html
}
