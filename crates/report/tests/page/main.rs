//! The page as a document, and in a browser.

#[path = "../common/causes.rs"]
mod causes;
#[path = "../common/mod.rs"]
mod common;

mod browser;
mod document;
mod heat;
mod scene;
