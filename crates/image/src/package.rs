//! Packages of distributions, a file a container: common to them are the
//! search of an archive (`archive`) and the table of what is searched for (`found`). Files other
//! than the kernel are read by [`read_package`].
//!
//! Contract: the search for a kernel streams, and stops at the kernel: in most packages it stands
//! within the first few files, so a Debian package of 70 MB costs what its first 8 MB cost. Nothing
//! else is unpacked unless there is no kernel; then the package's own metadata tells which one has
//! it (`holder`).

mod archive;
mod deb;
mod found;
mod holder;
mod newc;
mod rpm;
mod tarball;
mod visitor;

pub(crate) use archive::HEAD_BYTES;
pub(crate) use found::Package;

use std::io::Read;
use std::path::Path;

use visitor::Visitor;

use crate::error::{ImageError, ImageFault};
use crate::file::{ReadFault, Source, read_exactly, too_large};

pub(crate) struct Container {
    /// Takes the kernel out of it.
    pub(crate) extract: fn(Source) -> Result<Package, ImageFault>,
    visit: fn(Source, &mut dyn Visitor) -> Result<(), ImageFault>,
}

/// The container that begins with `head`, if it may be a package.
pub(crate) fn container(head: &[u8]) -> Option<Container> {
    if head.starts_with(deb::MAGIC) {
        Some(Container { extract: deb::extract, visit: deb::visit })
    } else if head.starts_with(rpm::MAGIC) {
        Some(Container { extract: rpm::extract, visit: rpm::visit })
    } else if tarball::may_be(head) {
        Some(Container { extract: tarball::extract, visit: tarball::visit })
    } else {
        None
    }
}

/// What is to be done with a file of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Skip,
    Take,
    /// It is read, and no file after it.
    TakeLast,
}

/// A regular file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFile {
    /// Its path in the package, as that has it: it may begin with `./` or `/`.
    pub path: String,
    pub data: Vec<u8>,
}

/// Reads the files that `choose` takes from the package at `path`, in the package's order. A path
/// that is no UTF-8 is not offered.
///
/// # Errors
/// [`ImageError`] names the file if it is no package, is damaged, or if a file in it that was
/// chosen has more than `limit_bytes`.
pub fn read_package(
    path: &Path,
    limit_bytes: u64,
    choose: &mut dyn FnMut(&str) -> Choice,
) -> Result<Vec<PackageFile>, ImageError> {
    let mut chosen = Chosen { limit_bytes, choose, files: Vec::new() };
    let visit = |chosen| {
        let mut source = Source::open(path)?;
        let container = container(&source.head(HEAD_BYTES)?).ok_or(ImageFault::NotAPackage)?;
        (container.visit)(source, chosen)
    };
    visit(&mut chosen).map_err(|fault: ImageFault| fault.at(path))?;
    Ok(chosen.files)
}

struct Chosen<'a> {
    limit_bytes: u64,
    choose: &'a mut dyn FnMut(&str) -> Choice,
    files: Vec<PackageFile>,
}

impl Visitor for Chosen<'_> {
    fn file(&mut self, path: &[u8], size: u64, data: &mut dyn Read) -> Result<bool, ReadFault> {
        const PART: &str = "a file in the package";
        let Ok(path) = std::str::from_utf8(path) else { return Ok(false) };
        let choice = (self.choose)(path);
        if choice == Choice::Skip {
            return Ok(false);
        }
        if size > self.limit_bytes {
            let fault = too_large(PART, self.limit_bytes, "give a package with smaller ones");
            return Err(ReadFault::Other(fault));
        }
        let data = read_exactly(data, size, PART)?;
        self.files.push(PackageFile { path: path.to_owned(), data });
        Ok(choice == Choice::TakeLast)
    }
}
