//! Each file of the source begins with what it is for, and each page of the book is in its summary.

use std::path::Path;

use crate::markdown::{files, is_markdown, read};

#[test]
fn each_file_begins_with_what_it_is_for() {
    let sources = files(|name| [".rs", ".c", ".h", ".S"].iter().any(|end| name.ends_with(end)));
    let is_of_the_house = |path: &&String| {
        let folder = Path::new(path).components().next().unwrap();
        let houses = ["crates", "firmware", "include", "lab", "plugin", "programs", "tests"];
        houses.iter().any(|house| folder.as_os_str() == *house)
    };
    // A file of tests stands beside the file that it tests, and is named by it.
    let is_headed = |path: &&String| {
        let begins = |head: &str| read(path).trim_start().starts_with(head);
        path.ends_with("tests.rs")
            || path.contains("/fixtures/")
            || ["//!", "/*", "#!"].into_iter().any(begins)
    };
    let sources: Vec<_> = sources.iter().filter(is_of_the_house).collect();
    let headless: Vec<_> = sources.iter().filter(|path| !is_headed(path)).collect();
    assert!(sources.len() > 500, "{} files", sources.len());
    assert!(headless.is_empty(), "{headless:?}");
}

#[test]
fn the_summary_has_each_page_of_the_book_once() {
    let summary = read("docs/SUMMARY.md");
    let mut pages = files(is_markdown);
    pages.retain(|path| path.starts_with("docs/") && path != "docs/SUMMARY.md");
    assert!(pages.len() > 30, "{pages:?}");
    for page in pages {
        let link = format!("]({})", page.strip_prefix("docs/").unwrap());
        assert_eq!(summary.matches(&link).count(), 1, "{page}");
    }
}
