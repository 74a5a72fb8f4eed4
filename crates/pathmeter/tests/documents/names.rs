//! Names say what they stand for: a function is a verb, a predicate or a noun that it returns, and
//! never a bare participle. A comment says what the name does not.

use std::path::Path;

use crate::markdown::{files, read};

/// Participles that say nothing of what a function does to what.
const BARE: &[&str] = &[
    "answered", "chosen", "compared", "counted", "drawn", "fit", "found", "given", "joined",
    "kept", "listed", "made", "measured", "named", "opened", "packed", "parsed", "ran", "refused",
    "said", "shown", "taken", "timed", "told", "wanted", "written",
];

/// Comments that say nothing beside any name, and those that depend on their neighbour's.
const IDLE: &[&str] = &[
    "Always `pathmeter.",
    "Arguments of `",
    "How guests run.",
    "Its name.",
    "Likewise.",
    "The function.",
    "The path's name.",
    "The path.",
    "The subject's name.",
    "Where the document goes.",
    "Which rows are shown.",
    "Why.",
];

/// The name of the function that a line of Rust defines.
fn defined(line: &str) -> Option<&str> {
    let words = line.split_whitespace();
    let mut rest = words.skip_while(|word| *word != "fn").skip(1);
    let name = rest.next()?;
    let end = name.find(|char: char| char != '_' && !char.is_alphanumeric());
    Some(&name[..end.unwrap_or(name.len())])
}

#[test]
fn no_function_is_a_bare_participle() {
    let sources = files(|name| Path::new(name).extension().is_some_and(|end| end == "rs"));
    assert!(sources.len() > 500, "{}", sources.len());
    let mut bad = Vec::new();
    for source in &sources {
        let text = read(source);
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let names = code.filter_map(defined).filter(|name| BARE.contains(name));
        bad.extend(names.map(|name| format!("{source}: fn {name}")));
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// The name of the closure that a line of Rust defines.
fn bound(line: &str) -> Option<&str> {
    let (name, value) = line.trim_start().strip_prefix("let ")?.split_once(" = ")?;
    let is_closure = value.strip_prefix("move ").unwrap_or(value).starts_with('|');
    is_closure.then(|| name.strip_prefix("mut ").unwrap_or(name))
}

#[test]
fn no_closure_has_the_name_of_a_function_of_its_file() {
    let sources = files(|name| Path::new(name).extension().is_some_and(|end| end == "rs"));
    let mut bad = Vec::new();
    for source in &sources {
        let text = read(source);
        // Those that are not indented: a method hides nothing.
        let functions: Vec<_> =
            text.lines().filter(|line| !line.starts_with(' ')).filter_map(defined).collect();
        let closures = text.lines().filter_map(bound).filter(|name| functions.contains(name));
        bad.extend(closures.map(|name| format!("{source}: let {name} = |")));
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert_eq!(bound("    let mut add = move |it| it + 1;"), Some("add"));
    assert_eq!(bound("let add = one | other;"), None);
}

/// Whether a line of Rust is the first of a comment that says nothing.
fn is_idle(line: &str) -> bool {
    let comment = line.trim_start().strip_prefix("/// ");
    comment.is_some_and(|it| IDLE.iter().any(|idle| it.starts_with(idle)))
}

#[test]
fn no_comment_repeats_a_name_or_stands_on_its_neighbour() {
    let sources = files(|name| Path::new(name).extension().is_some_and(|end| end == "rs"));
    let mut bad = Vec::new();
    for source in &sources {
        let text = read(source);
        let lines = text.lines().enumerate().filter(|(_, line)| is_idle(line));
        bad.extend(lines.map(|(at, line)| format!("{source}:{}: {}", at + 1, line.trim())));
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(is_idle("    /// Its name.") && !is_idle("/// Its name, without `CONFIG_`."));
}

#[test]
fn the_name_of_a_function_is_found_whatever_stands_before_and_after() {
    assert_eq!(defined("    pub(crate) async fn describe<T>(it: T) {"), Some("describe"));
    assert_eq!(defined("fn refuse_all() -> bool;"), Some("refuse_all"));
    assert_eq!(defined("let describe = 1;"), None);
    assert_eq!(defined("    fn(u8) -> u8"), None);
}
