//! Recordings through the cache: the windows of paths on one kernel, by all that they depend on.
//!
//! All paths that are asked for together are one entry, since they are recorded in one guest. Names
//! from a vmlinux with debug information are not part of the key, so such windows are made anew.

use std::cell::RefCell;

use pathmeter_trace::{Explain, SubjectWindow};
use pathmeter_vm::{EntryKind, Key};

use crate::error::MeasureError;
use crate::recording::{Inlined, Names, RecordablePath, recorded};
use crate::session::{Report, Session};
use crate::subject::image::Image;

/// Changes whenever a change that the key can't see makes old recordings wrong.
const FORMAT: &str = "1";

/// The window of each path that stands for all, from the cache or recorded now.
///
/// # Errors
/// For all paths, what stands in the way of all.
pub fn recordings(
    session: &Session,
    image: &Image,
    inlined: Inlined,
    paths: &[RecordablePath<'_>],
    progress: Report<'_>,
) -> Result<Vec<Result<SubjectWindow, MeasureError>>, MeasureError> {
    let record = || {
        let names = Names::new(session, image, inlined, progress)?;
        recorded(session, image, paths, &names, progress)
    };
    if image.debug_info(progress)?.is_some() {
        return record();
    }
    // What is not whole is worth another try, and so is not kept.
    let failed = RefCell::new(None);
    let make = || {
        let windows = record()?;
        if windows.iter().all(Result::is_ok) {
            return windows.into_iter().collect();
        }
        failed.replace(Some(windows));
        Err(MeasureError::Interrupted)
    };
    let parse = |bytes: &[u8]| check_windows(bytes, image, paths.len());
    let windows = session.cached(image, key(session, image, paths), progress, parse, make);
    match (windows, failed.take()) {
        (Err(_), Some(windows)) => Ok(windows),
        (Err(failure), None) => Err(failure),
        (Ok(windows), _) => {
            if windows.iter().all(is_unnamed) {
                // This says again why a recording from the cache has no names.
                Names::new(session, image, inlined, progress)?;
            }
            Ok(windows.into_iter().map(Ok).collect())
        }
    }
}

/// Whether its functions have no names but addresses.
fn is_unnamed(window: &SubjectWindow) -> bool {
    let functions = &window.window.functions;
    let is_address = |name: &str| name.starts_with("0x") || name.starts_with('[');
    !functions.is_empty() && functions.iter().all(|function| is_address(&function.name))
}

/// The same if the cache has them; nothing is recorded.
pub fn kept_recordings(
    session: &Session,
    image: &Image,
    paths: &[RecordablePath<'_>],
) -> Option<Vec<SubjectWindow>> {
    // Whether it has lines is not asked: reading it takes longer than what is kept saves.
    if image.has_vmlinux() {
        return None;
    }
    session.find_document(&key(session, image, paths), |bytes| {
        check_windows(bytes, image, paths.len())
    })
}

fn key(session: &Session, image: &Image, paths: &[RecordablePath<'_>]) -> Key {
    let asked: Vec<String> = paths.iter().map(RecordablePath::key).collect();
    let document = format!("recordings {FORMAT}: {}", asked.join(" "));
    session.key_of(EntryKind::Recordings, &document, image)
}

/// The windows, under the image's present name, if they can be those of so many paths.
fn check_windows(bytes: &[u8], image: &Image, paths: usize) -> Option<Vec<SubjectWindow>> {
    let windows: Vec<SubjectWindow> = serde_json::from_slice(bytes).ok()?;
    let good = |window: &SubjectWindow| Explain::new(window.clone(), None).check().is_ok();
    let name = image.subject().name;
    let named = |window| SubjectWindow { name: name.clone(), ..window };
    (windows.len() == paths && windows.iter().all(good))
        .then(|| windows.into_iter().map(named).collect())
}
