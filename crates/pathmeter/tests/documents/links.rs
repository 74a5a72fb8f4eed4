//! Links between the Markdown files: the file is there, and so is the heading.

use std::collections::HashMap;
use std::path::Path;

use crate::markdown::{documents, prose, read, root};

/// The anchors that a Markdown file's headings have on the usual hosts.
fn anchors(text: &str) -> Vec<String> {
    let mut met: HashMap<String, u32> = HashMap::new();
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    let anchors = headings.map(|line| {
        let kept = |char: &char| char.is_alphanumeric() || " -_".contains(*char);
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let anchor: String = title.chars().filter(kept).collect::<String>().replace(' ', "-");
        let count = met.entry(anchor.clone()).and_modify(|count| *count += 1).or_default();
        if *count == 0 { anchor } else { format!("{anchor}-{count}") }
    });
    anchors.collect()
}

/// The targets of all links in `text`.
fn targets(text: &str) -> Vec<String> {
    // A link may be broken over two lines, but not its target.
    let text = prose(text).join("\n");
    let rest = text.split("](").skip(1);
    rest.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// What is wrong with a link in `document`.
fn fault(document: &str, target: &str) -> Option<String> {
    if target.contains("://") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let folder = Path::new(document).parent().unwrap();
    let file = if file.is_empty() { Path::new(document).to_owned() } else { folder.join(file) };
    let fault_of_link = |what: &str| Some(format!("{document}: ({target}): {what}"));
    if !root().join(&file).exists() {
        return fault_of_link("there is no such file");
    }
    if anchor.is_empty() || anchors(&read(file.to_str().unwrap())).iter().any(|it| it == anchor) {
        return None;
    }
    fault_of_link("there is no such heading")
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut links = 0;
    let mut faults = Vec::new();
    for document in documents() {
        let targets = targets(&read(&document));
        links += targets.len();
        faults.extend(targets.iter().filter_map(|target| fault(&document, target)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(links > 100, "only {links} links were found");
}

#[test]
fn a_link_to_nowhere_is_found() {
    assert!(fault("README.md", "docs/no-such-file.md").is_some());
    assert!(fault("docs/explanation/lab.md", "#no-such-heading").is_some());
    assert_eq!(fault("docs/explanation/lab.md", "../reference/paths.md#ioctl"), None);
}
