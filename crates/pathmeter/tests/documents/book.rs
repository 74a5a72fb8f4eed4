//! The documents can be read as a book.

use std::path::Path;

use mdbook_driver::MDBook;

use crate::markdown::{files, is_markdown, root};

#[test]
fn every_page_is_in_the_book() {
    let folder = tempfile::tempdir().unwrap();
    let mut book = MDBook::load(root()).unwrap();
    book.config.build.build_dir = folder.path().to_owned();
    book.build().unwrap();
    let pages = files(is_markdown);
    let pages = pages.iter().filter_map(|page| page.strip_prefix("docs/"));
    let pages: Vec<&str> = pages.filter(|page| *page != "SUMMARY.md").collect();
    assert!(pages.len() > 30, "{pages:?}");
    for page in pages {
        // The page of a folder, as web servers name it.
        let page = page.replace("README.md", "index.md");
        let html = folder.path().join(Path::new(&page).with_extension("html"));
        let text = std::fs::read_to_string(&html).unwrap_or_default();
        assert!(text.contains("<main>"), "{page} is no page of the book");
    }
}
