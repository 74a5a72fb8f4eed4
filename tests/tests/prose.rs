//! Figures in the documents' prose: each stands in an example of its own document, which another
//! test runs, or its document is dated evidence and says so.
//!
//! | document                      | what is asked of it                                        |
//! |-------------------------------|------------------------------------------------------------|
//! | one with examples that are run | each figure outside of its blocks is in one of its blocks |
//! | one that tells of measurements | a line that begins with [`EVIDENCE`] and a date           |
//! | a reference                    | nothing: its numbers are those of formats and of manuals  |
//!
//! A figure is a number of three digits or more. Years, versions, code between backticks and the
//! addresses of links are none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::examples::DOCUMENTS;

/// What the line begins with that says when and on what a document's figures were measured.
const EVIDENCE: &str = "**Measured on** ";

/// Documents whose numbers are those of formats, limits and manuals, or which have none.
const REFERENCES: &[&str] = &[
    "count-format",
    "counter-examples",
    "explanations",
    "glossary",
    "host",
    "lab",
    "lab-caveats",
    "program-format",
    "program-rows",
    "results",
    "security",
    "times",
    "trace-format",
    "witness-pmu",
];

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages of the book: the Markdown files in the folders of `docs`.
fn pages() -> Vec<PathBuf> {
    let files = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let folders = files(root().join("docs")).filter(|path| path.is_dir());
    let pages = folders.flat_map(files);
    let pages: Vec<_> =
        pages.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    assert!(pages.len() > 30, "{pages:?}");
    pages
}

/// The text in its blocks, and the text outside of them.
fn parted(text: &str) -> (String, String) {
    let (mut blocks, mut prose, mut inside) = (String::new(), String::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
            continue;
        }
        let part = if inside { &mut blocks } else { &mut prose };
        *part += line;
        part.push('\n');
    }
    (blocks, prose)
}

/// The prose without comments, links' addresses, and code between backticks that is no number.
fn read_aloud(prose: &str) -> String {
    let without = |text: &str, begin: &str, end: &str| {
        let mut pieces = text.split(begin);
        let mut left = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            left += piece.split_once(end).map_or("", |(_, after)| after);
        }
        left
    };
    let text = without(&without(prose, "<!--", "-->"), "](", ")");
    let aloud = |(at, piece): (usize, &'_ str)| match at % 2 {
        1 if piece.contains(|c: char| !(c.is_ascii_digit() || "+-−≥ ,".contains(c))) => {
            String::new()
        }
        _ => piece.to_owned(),
    };
    text.split('`').enumerate().map(aloud).collect()
}

/// The figures of a text, as they are written, without signs.
fn figures(text: &str) -> BTreeSet<String> {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || ",._-/".contains(c));
    let words = text.split(ends).map(|word| word.trim_matches([',', '.', '-', '/']));
    words.filter(|word| is_figure(word)).map(str::to_owned).collect()
}

fn is_figure(word: &str) -> bool {
    let digits: String = word.chars().filter(char::is_ascii_digit).collect();
    let is_number = word.chars().all(|c| c.is_ascii_digit() || c == ',');
    let is_year = word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    is_number && digits.len() >= 3 && !is_year
}

#[test]
fn each_figure_of_a_document_with_examples_is_in_one_of_its_blocks() {
    for document in DOCUMENTS {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let (blocks, prose) = parted(&text);
        let blocks = figures(&blocks);
        let prose = figures(&read_aloud(&prose));
        let stale: Vec<_> = prose.difference(&blocks).collect();
        assert!(stale.is_empty(), "{document} has figures that no block of it shows: {stale:?}");
    }
}

#[test]
fn a_document_that_tells_of_measurements_says_when_they_were_made() {
    for path in pages() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let of_root = path.strip_prefix(root()).unwrap().to_str().unwrap();
        if REFERENCES.contains(&name) || DOCUMENTS.contains(&of_root) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let said = text.lines().find_map(|line| line.strip_prefix(EVIDENCE)).unwrap_or_default();
        assert!(is_date(said), "{of_root} has no line `{EVIDENCE}YYYY-MM-DD`");
    }
}

/// Whether a text begins with a date.
fn is_date(text: &str) -> bool {
    let form =
        |(at, c): (usize, char)| if at == 4 || at == 7 { c == '-' } else { c.is_ascii_digit() };
    text.chars().count() >= 10 && text.chars().take(10).enumerate().all(form)
}

/// The profile that no machine has is named where it was used: it is not the default.
#[test]
fn the_commands_of_documents_measured_on_plain_say_so() {
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        let commands = text.lines().filter(|line| line.starts_with("$ pathmeter "));
        let measures = |line: &&str| {
            let verb = line.split(' ').nth(2).unwrap_or_default();
            ["bisect", "compare", "explain", "measure", "run"].contains(&verb)
        };
        let says = |line: &str| line.contains("--cpu") || line.contains(" lab");
        if text.contains("with `--cpu plain`") && path.file_name().unwrap() != "history.md" {
            let silent: Vec<_> = commands.filter(measures).filter(|line| !says(line)).collect();
            assert!(silent.is_empty(), "{}: {silent:?}", path.display());
        }
    }
}

#[test]
fn figures_are_told_from_years_versions_and_names() {
    let prose =
        "In 2004, 8,192 bytes (`4096x`, `+1,234`) of 6.1.192 cost [1,049](a#100), 68 and x86-64.";
    let found: Vec<_> = figures(&read_aloud(prose)).into_iter().collect();
    assert_eq!(found, ["1,049", "1,234", "8,192"]);
    assert!(is_date("2026-11-23, once") && !is_date("November 2026"));
}
