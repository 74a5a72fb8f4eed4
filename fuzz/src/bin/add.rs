//! A result of somebody else's that is added to a history: it is refused, or comes back byte by
//! byte, twice over and beside another one that it is compressed by.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pathmeter_history::{Added, Date, NewResult, Store, blame};

fuzz_target!(|bytes: &[u8]| {
    // Most bytes are no result, and need no file.
    let Ok(measurement) = pathmeter_model::parse_measurement(bytes) else { return };
    // A seal is no obstacle to who makes a document.
    let Ok(text) = std::str::from_utf8(bytes).map(pathmeter_seal::sealed) else { return };
    let Ok(document) = text else { return };
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.expect("a folder");
    let file = folder.path().join("history.sqlite");
    add(&file, document.as_bytes(), &measurement);
});

fn add(file: &Path, bytes: &[u8], measurement: &pathmeter_model::Measurement) {
    let mut store = Store::create(file).expect("a history");
    // Much like the first, so that it is packed by that.
    let spaced = [bytes, b"\n"].concat();
    for document in [bytes, &spaced] {
        let date = Date::from_seconds(0).expect("a date");
        let new = NewResult { bytes: document, label: None, commit: None, date };
        let added = store.add(new).expect("what was parsed is added");
        let Added::New(kept) = added else { panic!("it was not there") };
        assert!(store.document(kept.number).expect("a document") == document);
        assert!(matches!(store.add(new), Ok(Added::Known(known)) if known == kept));
    }
    for path in &measurement.paths {
        let blame = blame(&store, &path.path, None, false).expect("a path that is there");
        assert!(blame.steps.is_empty(), "the same result twice is no step");
    }
}
