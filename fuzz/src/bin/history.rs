//! A history of somebody else's, a file of SQLite's: it is refused, or read without a panic, and
//! what comes out as a document is one.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use pathmeter_history::{Store, blame};
use pathmeter_model::parse_measurement;

thread_local! {
    /// A folder for the file: SQLite looks for a journal beside it.
    static FOLDER: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
}

fuzz_target!(|bytes: &[u8]| {
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| tempfile::tempdir().expect("a folder"));
        let file = folder.path().join("history.sqlite");
        std::fs::write(&file, bytes).expect("room for a file");
        read(&file);
    });
});

fn read(file: &std::path::Path) {
    let Ok(store) = Store::open(file) else { return };
    for path in store.path_names().into_iter().flatten().take(4) {
        let _ = store.history(None, &[&path]);
        let _ = blame(&store, &path, None, true);
    }
    let _ = store.results(None);
    for result in store.find_results(None).0.into_iter().take(4) {
        let Ok(document) = store.document(result.number) else { continue };
        assert!(document.len() <= pathmeter_model::MAX_DOCUMENT_BYTES);
        let _ = parse_measurement(&document);
    }
}
