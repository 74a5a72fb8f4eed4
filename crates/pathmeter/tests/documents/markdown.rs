//! Just enough of Markdown: headings, tables, code spans and links, none of them in code blocks.

use std::path::{Path, PathBuf};

/// The root of the source tree.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The text of a file, by its path from the root.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All Markdown files, by their paths from the root.
pub(crate) fn documents() -> Vec<String> {
    let found = files(is_markdown);
    assert!(found.iter().any(|path| path == "README.md"));
    found
}

/// Whether this is the name of a Markdown file.
pub(crate) fn is_markdown(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "md")
}

/// All files whose names are wanted, by their paths from the root, but for what is built.
pub(crate) fn files(wanted: fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    collect(Path::new(""), wanted, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, wanted: fn(&str) -> bool, found: &mut Vec<String>) {
    for entry in root().join(folder).read_dir().unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let path = folder.join(&name);
        if entry.file_type().unwrap().is_dir() {
            if !name.starts_with('.') && name != "target" && name != "build" {
                collect(&path, wanted, found);
            }
        } else if wanted(&name) {
            found.push(path.to_str().unwrap().to_owned());
        }
    }
}

/// The lines outside fenced code blocks; a line inside is empty.
pub(crate) fn prose(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let lines = text.lines().map(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if fenced || fence { "" } else { line }
    });
    lines.collect()
}

/// The part of `text` from the heading, which is given whole, to the next of its level or above.
pub(crate) fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let begin = format!("\n{heading}\n");
    let from = text.find(&begin).unwrap_or_else(|| panic!("no heading {heading}")) + begin.len();
    let level = heading.find(' ').unwrap();
    let ends = (1..=level).filter_map(|level| {
        let next = format!("\n{} ", "#".repeat(level));
        text[from..].find(&next)
    });
    &text[from..ends.min().map_or(text.len(), |length| from + length)]
}

/// The tables in `text`: the rows of each, a row its cells, the header first.
pub(crate) fn tables(text: &str) -> Vec<Vec<Vec<&str>>> {
    let mut tables = Vec::new();
    let mut rows = Vec::new();
    for line in prose(text).into_iter().chain([""]) {
        if line.starts_with('|') {
            rows.push(line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
        } else if !rows.is_empty() {
            rows.retain(|row| !row.iter().all(|cell| cell.chars().all(|char| char == '-')));
            tables.push(std::mem::take(&mut rows));
        }
    }
    tables
}

/// The first cells of the only table in `text` whose header begins with `header`.
pub(crate) fn first_cells<'a>(text: &'a str, header: &str) -> Vec<&'a str> {
    let mut tables = tables(text);
    tables.retain(|table| table[0][0] == header);
    assert_eq!(tables.len(), 1, "tables that begin with {header:?}");
    tables[0][1..].iter().map(|row| row[0]).collect()
}

/// The texts between pairs of backticks.
pub(crate) fn code(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}
