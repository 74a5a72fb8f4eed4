//! What can be wrong with a file of debug information, and what the user should do about it.
//!
//! Contract: every message names the file and ends with the next step. The only texts of the file
//! that go into a message are its banner and build ID, which are printable ASCII of bounded length.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file that gives no source lines: which file, and why.
#[derive(Debug, Error)]
#[error("{}: {fault}", path.display())]
pub struct DebugInfoError {
    /// The file, as the caller named it.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: DebugInfoFault,
}

/// What is wrong with a file of debug information.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DebugInfoFault {
    /// The file isn't there, or may not be read.
    #[error("cannot open: {0}; check the path and its permissions")]
    Open(io::Error),
    /// The file system failed in the middle of the file, or the file shrank while it was read.
    #[error("cannot read: {0}; check the disk, then copy the file again")]
    Read(io::Error),
    /// A directory, device, pipe or socket.
    #[error("not a regular file; name the vmlinux itself")]
    NotAFile,
    /// Not ELF at all: a bzImage, a package, something else.
    #[error(
        "not an ELF file; give the vmlinux of the build directory \
         (not the bzImage or System.map), or that of the kernel's -dbg package"
    )]
    NotElf,
    /// ELF, but for another processor, or neither a program nor a kernel.
    #[error("not an x86-64 vmlinux but {0}; give the vmlinux that the measured kernel was made of")]
    NotAKernel(&'static str),
    /// Whole, but without the sections that lines come from.
    #[error(
        "this vmlinux has no debug information (DWARF); build the kernel with \
         CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT=y, or give the vmlinux of its -dbg package"
    )]
    NoDwarf,
    /// The DWARF is in files of its own, which the vmlinux only points to.
    #[error(
        "its debug information is in separate .dwo files; \
         build the kernel with CONFIG_DEBUG_INFO_SPLIT=n"
    )]
    SplitDwarf,
    /// Headers that contradict themselves, or a section that ends early.
    #[error("damaged: {0}; copy, download or build the file again")]
    Malformed(String),
    /// A section larger than anything that is read into memory.
    #[error(
        "section {section} is larger than {limit_mib} MiB, the most that is read; \
         build the kernel with CONFIG_DEBUG_INFO_REDUCED=y"
    )]
    TooLarge { section: &'static str, limit_mib: u64 },
    /// The same, of two builds with one banner, or of a file without a banner.
    #[error(
        "made for another build of the kernel: its build ID is {has}, that of the measured kernel \
         {measured}; give the vmlinux of the very same build"
    )]
    OtherBuild {
        /// The build ID in the file.
        has: String,
        /// The build ID of the measured kernel.
        measured: String,
    },
    /// Neither banner nor build ID, such as a copy without data and notes.
    #[error(
        "it can't be identified: it has neither the kernel's banner nor a build ID; \
         give the vmlinux as it was built, or that of the -dbg package"
    )]
    Unidentified,
    /// Lines of one kernel would be shown for the addresses of another.
    #[error(
        "made for another kernel: its banner is `{has}`, measured was `{measured}`; \
         give the vmlinux of the very same build"
    )]
    OtherKernel {
        /// The banner in the file.
        has: String,
        /// The banner, or release, of the measured kernel.
        measured: String,
    },
}

impl DebugInfoFault {
    /// Binds the fault to the file it was found in.
    pub(crate) fn at(self, path: &Path) -> DebugInfoError {
        DebugInfoError { path: path.to_owned(), fault: self }
    }

    pub(crate) fn malformed(reason: &impl ToString) -> Self {
        Self::Malformed(reason.to_string())
    }
}
