//! Subjects that go by a name, and folders of results, get their files, before a verb begins.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::results_folder::take_only_result;
use crate::screen::output::Screen;
use pathmeter_measure::subject::named_kernel::{file, is_named};

/// The file of a kernel, which may go by a name.
///
/// # Errors
/// There is no such kernel.
pub(crate) fn find_kernel(subject: &Path, screen: &Screen) -> Result<PathBuf, Failure> {
    if is_named(subject) {
        return Ok(file(subject, |what| screen.note(what))?);
    }
    Ok(subject.to_owned())
}

/// Puts the files of kernels in the place of their names, and the only result of a folder in the
/// place of the folder.
///
/// # Errors
/// There is no such kernel, or a folder can't be read.
pub(crate) fn find_files<'a>(
    subjects: impl IntoIterator<Item = &'a mut PathBuf>,
    screen: &Screen,
) -> Result<(), Failure> {
    for subject in subjects {
        *subject = take_only_result(&find_kernel(subject, screen)?)?;
    }
    Ok(())
}
