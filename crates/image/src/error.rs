//! What can be wrong with a kernel file, and what the user should do about it.
//!
//! Contract: every message names the file and ends with the next step. Of what a file holds nothing
//! is put into a message as text (it could carry terminal escapes), but for names of packages,
//! which have only the characters of such names.

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A kernel file that can't be used: which file, and why.
#[derive(Debug, Error)]
#[error("{}: {fault}", path.display())]
pub struct ImageError {
    /// The file, as the caller named it.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: ImageFault,
}

impl ImageError {
    /// The error of the system's, if it is one.
    pub fn io(&self) -> Option<&io::Error> {
        match &self.fault {
            ImageFault::Open(error) | ImageFault::Read(error) => Some(error),
            _ => None,
        }
    }
}

/// What to do about a file that can't be opened: it may not be the file's fault.
fn advice_on_opening(error: &io::Error) -> &'static str {
    // ENFILE and EMFILE of Linux (`include/uapi/asm-generic/errno-base.h`).
    match error.raw_os_error() {
        Some(23 | 24) => {
            "this machine has run out of open files: end other programs, or raise the limit \
             (`ulimit -n`)"
        }
        _ => "check the path and its permissions",
    }
}

/// What is wrong with a kernel file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageFault {
    /// The file isn't there, or may not be read.
    #[error("cannot open: {0}; {advice}", advice = advice_on_opening(.0))]
    Open(io::Error),
    /// The file system failed in the middle of the file.
    #[error("cannot read: {0}; check the disk, then copy the file again")]
    Read(io::Error),
    /// A device, pipe or socket.
    #[error("not a regular file; name the kernel file itself, such as arch/x86/boot/bzImage")]
    NotAFile,
    /// A folder in which no kernel was built.
    #[error(
        "a folder without arch/x86/boot/bzImage; build the kernel there (make bzImage), \
         or name the kernel file itself"
    )]
    NoBuildIn,
    #[error("the file is empty; build or download the kernel again")]
    Empty,
    /// None of the kinds that can be read.
    #[error("not an x86-64 kernel but {0}; give a bzImage, a vmlinux or a kernel's package")]
    NotAKernel(LooksLike),
    /// Another kind of file where a package must be.
    #[error("not a package; give a kernel's .deb, .rpm, .pkg.tar.zst, .apk or tar file")]
    NotAPackage,
    /// A bare vmlinux that QEMU has no way into.
    #[error(
        "this vmlinux has no PVH entry (Xen ELF note 18); \
         give its bzImage, or build it with CONFIG_PVH=y"
    )]
    NoPvhNote,
    /// The file ends before something that its headers promise.
    #[error(
        "cut short: {part} needs {needs} bytes and there are {has}; \
         copy, download or build the file again"
    )]
    Truncated {
        /// The part that reaches beyond the end.
        part: &'static str,
        /// Bytes needed, from the start of what holds the part.
        needs: u64,
        /// Bytes that there are, from the same start.
        has: u64,
    },
    /// An x86 kernel without 64-bit code.
    #[error("a 32-bit x86 kernel; build it with CONFIG_64BIT=y, or give an amd64 package")]
    ThirtyTwoBit,
    /// A kernel, or an ELF file, for another processor.
    #[error("made for {0}, not x86-64; give the x86-64 (amd64) build of this kernel")]
    OtherArchitecture(String),
    /// A boot protocol that does not tell where the payload is.
    #[error(
        "boot protocol {major}.{minor:02} is older than 2.08; \
         give Linux 2.6.26 or newer, or its vmlinux built with CONFIG_PVH=y"
    )]
    BootProtocolTooOld {
        /// Major version of the boot protocol.
        major: u8,
        /// Minor version of the boot protocol.
        minor: u8,
    },
    /// The headers of the file contradict themselves.
    #[error("damaged: {0}; copy, download or build the file again")]
    Malformed(&'static str),
    /// Packed by a method that is none of the seven Linux offers; in a package, or no archive.
    #[error(
        "{part} is packed in an unknown way (it begins with {first}); \
         build with CONFIG_KERNEL_ZSTD, _LZ4, _XZ or _GZIP, or give the vmlinux"
    )]
    UnknownCompression {
        /// What could not be unpacked.
        part: &'static str,
        /// Its first bytes in hexadecimal.
        first: String,
    },
    /// The decoder gave up, or gave another number of bytes than promised.
    #[error("unpacking {codec} failed: {reason}; copy, download or build the file again")]
    Decompression {
        /// The method: `gzip`, `xz`, ….
        codec: &'static str,
        /// What the decoder itself says.
        reason: String,
    },
    /// A package without `boot/vmlinuz-*` and `lib/modules/*/vmlinuz`.
    #[error(
        "this package holds no kernel; {}",
        advice(
            holder.as_deref(),
            "\
        if it is a metapackage, modules or headers, give the package with boot/vmlinuz-* or \
        lib/modules/*/vmlinuz, as `apt-get download` or `dnf download` fetches it"
        )
    )]
    NoKernelInPackage {
        /// The package that has it, where this one names it.
        holder: Option<String>,
    },
    /// A package of debug symbols.
    #[error(
        "this package holds debug symbols; {}",
        advice(
            holder.as_deref(),
            "\
        give the package of the same name without -dbg, -dbgsym or -debuginfo"
        )
    )]
    DebugPackage {
        /// The package that has the kernel, where this one names it.
        holder: Option<String>,
    },
    /// Larger than anything that is read into memory.
    #[error("{part} is larger than {limit_mib} MiB, the most that is read; {cure}")]
    TooLarge {
        part: &'static str,
        limit_mib: u64,
        /// What the user can do next.
        cure: &'static str,
    },
    /// This machine can't hold it.
    #[error("no memory for {part} ({needs_mib} MiB); end other programs, or raise the limit")]
    NoMemory {
        /// What was to be held.
        part: &'static str,
        needs_mib: u64,
    },
}

impl ImageFault {
    /// Binds the fault to the file it was found in.
    pub(crate) fn at(self, path: &std::path::Path) -> ImageError {
        ImageError { path: path.to_owned(), fault: self }
    }

    /// `Truncated` unless `part`, ending at `needs`, fits in `has` bytes.
    pub(crate) fn unless_fits(part: &'static str, needs: u64, has: u64) -> Result<(), Self> {
        if needs <= has { Ok(()) } else { Err(Self::Truncated { part, needs, has }) }
    }
}

/// What a file that is no kernel seems to be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LooksLike {
    /// A kind of file told by its magic number.
    #[error("{0}")]
    Known(&'static str),
    /// Anything else, by its first bytes in hexadecimal.
    #[error("unknown data that begins with {0}")]
    Bytes(String),
}

/// The next step after a package without a kernel.
fn advice(holder: Option<&str>, unknown: &str) -> String {
    holder.map_or_else(|| unknown.to_owned(), |name| format!("give {name}, which has the kernel"))
}

/// An error in the data, in the decoder's words.
pub(crate) fn invalid(reason: impl Into<Box<dyn StdError + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// The first eight bytes in hexadecimal, as messages show unknown data.
pub(crate) fn first_bytes(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}
