//! The documents can be read as a book.

use std::collections::BTreeSet;
use std::path::PathBuf;

use mdbook_summary::{Summary, SummaryItem, parse_summary};

use crate::markdown::{files, is_markdown, root};

#[test]
fn every_page_is_in_the_book() {
    let docs = root().join("docs");
    let text = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let in_book = list_pages(&parse_summary(&text).unwrap());
    let pages = files(is_markdown);
    let pages = pages.iter().filter_map(|page| page.strip_prefix("docs/"));
    let pages: BTreeSet<PathBuf> =
        pages.filter(|page| *page != "SUMMARY.md").map(PathBuf::from).collect();
    assert!(pages.len() > 30, "{pages:?}");
    let missing: Vec<_> = pages.difference(&in_book).collect();
    let gone: Vec<_> = in_book.difference(&pages).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not in the book: {missing:?}, gone: {gone:?}");
}

/// The files of all chapters, at any depth.
fn list_pages(summary: &Summary) -> BTreeSet<PathBuf> {
    let parts = [&summary.prefix_chapters, &summary.numbered_chapters, &summary.suffix_chapters];
    let mut items: Vec<&SummaryItem> = parts.into_iter().flatten().collect();
    let mut pages = BTreeSet::new();
    while let Some(item) = items.pop() {
        if let SummaryItem::Link(link) = item {
            pages.extend(link.location.clone());
            items.extend(&link.nested_items);
        }
    }
    pages
}
