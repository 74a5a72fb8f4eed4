//! Packages that are packed tar archives: Arch's `.pkg.tar.zst`, Alpine's `.apk` (several gzip
//! streams, laid end to end), and what `make tarzst-pkg` makes of a kernel.
//!
//! Sources: pacman's `PKGINFO(5)`; Alpine's "Apk spec" for format 2.

use super::archive::{self, Format};
use super::found::{Found, Package};
use super::holder;
use super::visitor::Visitor;
use crate::codec;
use crate::error::ImageFault;
use crate::file::Source;
use crate::foreign;

/// Whether a file that begins with `head` may be one: a tar archive, or anything packed.
pub(super) fn may_be(head: &[u8]) -> bool {
    Format::Tar.begins(head) || codec::find(head).is_some()
}

/// Takes the kernel out of the package; what holds no tar archive is named as what it is.
pub(super) fn extract(source: Source) -> Result<Package, ImageFault> {
    let mut found = Found::default();
    visit(source, &mut found)?;
    found.kernel(|metadata| holder::by_pkginfo(&metadata?))
}

/// Hands the package's files to the visitor.
pub(super) fn visit(source: Source, visitor: &mut dyn Visitor) -> Result<(), ImageFault> {
    archive::search(source.into_reader(), Format::Tar, visitor, foreign::describe)
}
