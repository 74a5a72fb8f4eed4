//! Where two results of one cell differ first: there should be no such place.

use pathmeter_model::{Measurement, PathResult, clean, parse_measurement};
use serde_json::Value;

/// Longest text of a value that is shown.
const LONGEST: usize = 80;

/// The first sample in which two results differ, or if all are the same, the first other thing.
pub fn first_difference(one: &[u8], other: &[u8]) -> String {
    if let (Ok(one), Ok(other)) = (parse_measurement(one), parse_measurement(other))
        && let Some(found) = in_samples(&one, &other)
    {
        return found;
    }
    let value = |bytes| serde_json::from_slice::<Value>(bytes).ok();
    match (value(one), value(other)) {
        (Some(one), Some(other)) => in_values(&one, &other, "")
            .unwrap_or_else(|| "only white space or the order of fields differs".to_owned()),
        (one, _) => {
            format!("{} is no JSON", if one.is_none() { "the first" } else { "the second" })
        }
    }
}

fn in_samples(one: &Measurement, other: &Measurement) -> Option<String> {
    one.paths.iter().zip(&other.paths).find_map(|(one, other)| in_path(one, other))
}

fn in_path(one: &PathResult, other: &PathResult) -> Option<String> {
    let name = clean(&one.path);
    if one.path != other.path {
        return Some(format!("path {name} is at the place of {}", clean(&other.path)));
    }
    let mut pairs = one.samples.iter().zip(&other.samples).enumerate();
    if let Some((at, (one, other))) = pairs.find(|(_, (one, other))| one != other) {
        return Some(format!("{name}: sample {at} is {one} and {other}"));
    }
    let counts = (one.samples.len(), other.samples.len());
    (counts.0 != counts.1).then(|| format!("{name}: {} and {} samples", counts.0, counts.1))
}

/// The first place in which two values differ, by the names on the way to it.
fn in_values(one: &Value, other: &Value, place: &str) -> Option<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys());
            let null = &Value::Null;
            names.into_iter().find_map(|name| {
                let [one, other] = [one, other].map(|map| map.get(name).unwrap_or(null));
                in_values(one, other, &format!("{place}.{name}"))
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(at, (one, other))| in_values(one, other, &format!("{place}[{at}]")))
        }
        _ if one == other => None,
        _ => Some(format!(
            "{} is {} and {}",
            clean(place),
            format_short_value(one),
            format_short_value(other)
        )),
    }
}

/// Formats a value as JSON, cut after [`LONGEST`] characters.
fn format_short_value(value: &Value) -> String {
    let text = value.to_string();
    let short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() { short + "…" } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_model::example;

    fn result(samples: &[u64], release: &str) -> Vec<u8> {
        let paths = vec![example::path("a.b", &[1, 1]), example::path("c.d", samples)];
        let configuration = example::configuration(release, 1);
        serde_json::to_vec(&example::measurement("vmlinuz", configuration, paths)).unwrap()
    }

    #[test]
    fn the_first_sample_that_differs_is_named_before_all_else() {
        let told = first_difference(&result(&[5, 6, 7], "x"), &result(&[5, 9, 8], "y"));
        assert_eq!(told, "c.d: sample 1 is 6 and 9");
        let told = first_difference(&result(&[5], "x"), &result(&[5, 5], "x"));
        assert_eq!(told, "c.d: 2 and 4 samples");
    }

    #[test]
    fn where_all_samples_are_the_same_the_place_is_named() {
        let told = first_difference(&result(&[5], "x"), &result(&[5], "y"));
        assert_eq!(told, ".configuration.release is \"x\" and \"y\"");
        assert!(first_difference(b"{\"a\":1}", b"{\"a\": 1}").starts_with("only white space"));
        assert_eq!(first_difference(b"{}", b"\xff"), "the second is no JSON");
        assert_eq!(first_difference(b"[1]", b"[1,2]"), " is [1] and [1,2]");
    }
}
