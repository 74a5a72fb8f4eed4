//! Everything that the results depend on, in full: the configuration fingerprints.

use pathmeter_model::{Comparison, Configuration, Measurement};
use serde_json::Value;

use super::html::Html;

/// The configurations of results: what all have alike once, and what differs for each.
pub(super) fn of_results(results: &[&Measurement]) -> Html {
    let mut html = Html::default();
    let names: Vec<&str> = results.iter().map(|result| result.subject.name.as_str()).collect();
    let tables: Vec<Vec<(String, String)>> =
        results.iter().map(|result| fields(&result.configuration)).collect();
    let Some(first) = tables.first() else { return html };
    html.raw("<dl class=\"fingerprint\">");
    for (place, (field, value)) in first.iter().enumerate() {
        html.raw("<dt>").text(field).raw("</dt>");
        let of = |table: &Vec<(String, String)>| table.get(place).map(|(_, value)| value.clone());
        if tables.iter().all(|table| of(table).as_ref() == Some(value)) {
            html.raw("<dd><code>").text(value).raw("</code></dd>");
            continue;
        }
        for (name, table) in names.iter().zip(&tables) {
            html.raw("<dd><code>").text(&of(table).unwrap_or_default()).raw("</code> <span>");
            html.text(name).raw("</span></dd>");
        }
    }
    html.raw("</dl>");
    html
}

pub(super) fn of_configuration(configuration: &Configuration) -> Html {
    let mut html = Html::default();
    html.raw("<dl class=\"fingerprint\">");
    for (field, value) in fields(configuration) {
        html.raw("<dt>").text(&field).raw("</dt><dd><code>").text(&value).raw("</code></dd>");
    }
    html.raw("</dl>");
    html
}

/// What a comparison holds of its sides.
pub(super) fn of_comparison(comparison: &Comparison) -> Html {
    let mut html = Html::default();
    html.raw("<dl class=\"fingerprint\">");
    for (side, about) in [("base", &comparison.base), ("new", &comparison.new)] {
        html.raw("<dt>").text(side).raw("</dt><dd>").text(&about.name).raw("</dd>");
        html.raw("<dd>release <code>").text(about.release.as_deref().unwrap_or("unknown"));
        html.raw("</code></dd><dd>image_sha256 <code>").text(&about.image_sha256);
        html.raw("</code></dd>");
    }
    html.raw("</dl><p class=\"note\">A comparison holds no more; the results that it was made of ");
    html.raw("hold the whole configuration.</p>");
    html
}

/// The fields in the document's order, each as text.
fn fields(configuration: &Configuration) -> Vec<(String, String)> {
    let Ok(Value::Object(fields)) = serde_json::to_value(configuration) else { return Vec::new() };
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    fields.into_iter().map(|(field, value)| (field, text(value))).collect()
}
