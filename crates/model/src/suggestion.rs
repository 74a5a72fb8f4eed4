//! Names that the user probably meant by a word that is no known name.

/// Names that are proposed for one that is unknown.
const MOST_PROPOSED: usize = 3;
/// How alike a proposed name must be, 0 to 1 (Jaro-Winkler): lower ones share little but a dot.
const LEAST_ALIKE: f64 = 0.75;

/// `did you mean a, b? `, if some of `names` are like `word`; else nothing.
#[must_use]
pub fn suggest(word: &str, names: &[&str]) -> String {
    match &find_close(word, names)[..] {
        [] => String::new(),
        close => format!("did you mean {}? ", close.join(", ")),
    }
}

/// A message of serde about an unknown key or word, with the closest of the known ones, which serde
/// lists between backticks.
#[must_use]
pub fn add_suggestion(message: &str) -> String {
    let mut words = message.split('`').skip(1).step_by(2);
    let unknown = words.next().filter(|_| message.contains("unknown "));
    let known: Vec<&str> = words.collect();
    let close = unknown.and_then(|word| find_close(word, &known).first().copied());
    close.map_or(message.to_owned(), |close| format!("{message}; did you mean `{close}`?"))
}

/// The names most like `pattern`, the closest first; one that only lacks what is before its dot is
/// the closest.
#[must_use]
pub fn find_close<'a>(pattern: &str, names: &[&'a str]) -> Vec<&'a str> {
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
        assert_eq!(add_suggestion(message), format!("{message}; did you mean `max`?"));
        for message in ["unknown field `zzz`, expected `max`", "missing field `max`", "invalid"] {
            assert_eq!(add_suggestion(message), message);
        }
    }
}
