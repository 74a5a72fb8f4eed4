//! A file that may be a kernel, or hold one, by its first bytes and its length.
//!
//! Contract: what can't be a kernel is refused after [`foreign::HEAD_BYTES`] of it, however large
//! the file is, and named as what it is.

use std::path::Path;

use crate::error::{ImageError, ImageFault};
use crate::file::Source;
use crate::package::{self, Container};
use crate::{bzimage, elf, foreign, tree, uki};

/// SHA-256 of the kernel file at `path` as it is, in lower-case hexadecimal; of a build folder,
/// that of the bzImage in it.
///
/// # Errors
/// The file can't be opened or read, is no regular file, or is empty; the folder has no bzImage. A
/// file that begins like no kernel and no package is refused before the rest of it is read.
pub fn hash_file(path: &Path) -> Result<String, ImageError> {
    let file = tree::kernel_file(path).map_err(|fault| fault.at(path))?;
    let hash = open(&file).and_then(|(source, _)| source.hash());
    hash.map_err(|fault| fault.at(&file))
}

/// Opens the file at `path`; with it comes the container, if it begins like a package.
pub(crate) fn open(path: &Path) -> Result<(Source, Option<Container>), ImageFault> {
    let mut source = Source::open(path)?;
    let head = source.head(foreign::HEAD_BYTES)?;
    if let Some(container) = package::container(&head) {
        return Ok((source, Some(container)));
    }
    if !(elf::is_elf(&head) || bzimage::has_setup_header(&head) || uki::may_be(&head)) {
        return Err(foreign::describe(&head));
    }
    source.check_size()?;
    Ok((source, None))
}
