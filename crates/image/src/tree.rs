//! A folder in which a kernel was built, as a kernel file.
//!
//! Source: Linux `Documentation/kbuild/kbuild.rst` (`O=`) and `arch/x86/Makefile`, which define
//! where a build leaves its files.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::error::ImageFault;

/// Where a build leaves the bzImage. `arch/x86_64` links there.
const BZIMAGE: &str = "arch/x86/boot/bzImage";
/// And the kernel with its symbols, of which the bzImage was made.
const VMLINUX: &str = "vmlinux";

/// The file that is read for `path`: itself, or if it is a build folder, the bzImage in it.
pub(crate) fn kernel_file(path: &Path) -> Result<Cow<'_, Path>, ImageFault> {
    if !path.is_dir() {
        return Ok(Cow::Borrowed(path));
    }
    let file = path.join(BZIMAGE);
    if file.exists() { Ok(Cow::Owned(file)) } else { Err(ImageFault::NoBuildIn) }
}

/// The vmlinux of the build folder `path`, which may hold what source lines come from. None if
/// `path` is no folder, or has none.
pub fn vmlinux_of(path: &Path) -> Option<PathBuf> {
    let file = path.join(VMLINUX);
    (path.is_dir() && file.is_file()).then_some(file)
}
