//! Packages of distributions, a file a container: common to them are the
//! search of an archive (`archive`) and the table of what is searched for (`found`).
//!
//! Contract: streams, and stops at the kernel: in most packages it stands within the first few
//! files, so a Debian package of 70 MB costs what its first 8 MB cost. Nothing else is unpacked
//! unless there is no kernel; then the package's own metadata tells which one has it (`holder`).

mod archive;
mod deb;
mod found;
mod holder;
mod newc;
mod rpm;
mod tarball;

pub(crate) use archive::HEAD_BYTES;
pub(crate) use found::Package;

use crate::error::ImageFault;
use crate::file::Source;

type Extract = fn(Source) -> Result<Package, ImageFault>;

/// How a file that begins with `head` is unpacked, if it may be a package.
pub(crate) fn reader(head: &[u8]) -> Option<Extract> {
    if head.starts_with(deb::MAGIC) {
        Some(deb::extract)
    } else if head.starts_with(rpm::MAGIC) {
        Some(rpm::extract)
    } else if tarball::may_be(head) {
        Some(tarball::extract)
    } else {
        None
    }
}
