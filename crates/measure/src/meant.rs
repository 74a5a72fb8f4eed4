//! What was probably meant by a word that is none of those that there are.

/// Names that are proposed for one that is unknown.
const MOST_PROPOSED: usize = 3;
/// How alike a proposed name must be, 0 to 1 (Jaro-Winkler): lower ones share little but a dot.
const LEAST_ALIKE: f64 = 0.75;

/// `did you mean a, b? `, if some of `names` are like `word`.
pub fn meant(word: &str, names: &[&str]) -> String {
    match &close_to(word, names)[..] {
        [] => String::new(),
        close => format!("did you mean {}? ", close.join(", ")),
    }
}

/// The message of a reader of documents, with what was probably meant by a key or a word that it
/// does not know: it names those that it knows.
pub fn with_meant(message: &str) -> String {
    let mut words = message.split('`').skip(1).step_by(2);
    let unknown = words.next().filter(|_| message.contains("unknown "));
    let known: Vec<&str> = words.collect();
    let close = unknown.and_then(|word| close_to(word, &known).first().copied());
    close.map_or(message.to_owned(), |close| format!("{message}; did you mean `{close}`?"))
}

/// The names most like `pattern`, the closest first; one that only lacks what is before its dot is
/// the closest.
pub fn close_to<'a>(pattern: &str, names: &[&'a str]) -> Vec<&'a str> {
    let is_rest = |name: &str| name.split_once('.').is_some_and(|(_, rest)| rest == pattern);
    let score = |name: &str| if is_rest(name) { 1.0 } else { strsim::jaro_winkler(pattern, name) };
    let alike = |name: &&'a str| (score(name), *name);
    let mut scored: Vec<(f64, &str)> = names.iter().map(alike).collect();
    scored.retain(|&(score, _)| score >= LEAST_ALIKE);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.dedup();
    scored.into_iter().take(MOST_PROPOSED).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readers_message_is_answered_with_the_closest_of_the_names_in_it() {
        let message = "unknown field `maks`, expected one of `max`, `events`";
        assert_eq!(with_meant(message), format!("{message}; did you mean `max`?"));
        for message in ["unknown field `zzz`, expected `max`", "missing field `max`", "invalid"] {
            assert_eq!(with_meant(message), message);
        }
    }
}
