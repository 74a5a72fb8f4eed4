//! Turns a kernel *file* into something that can be booted.
//!
//! Taken are a bzImage with any of Linux's payload compressions, an uncompressed x86-64 vmlinux, a
//! unified kernel image, the package of a kernel (`.deb`, `.rpm`, `.pkg.tar.zst`, `.apk`), and the
//! folder in which a kernel was built. Where the vmlinux carries a PVH note, it is what [`load`]
//! gives back: QEMU enters it directly, which skips the decompressor in the guest. Else the
//! bzImage is given back as it was.
//!
//! Contract: every byte read is untrusted. No input makes this crate panic, and none makes it hold
//! more than [`MAX_FILE_BYTES`], the [`MAX_KERNEL_BYTES`] of one unpacked kernel and a decoder's
//! window (at most [`MAX_WINDOW_MIB`]). Nothing is written and nothing is run.
//!
//! Sources: Linux `Documentation/arch/x86/boot.rst` (setup header),
//! `arch/x86/boot/compressed/Makefile` and `scripts/Makefile.lib` (payload), and the ELF notes of
//! Xen's `public/elfnote.h`; those of each container in its file.

#![forbid(unsafe_code)]

mod blocks;
mod bzimage;
mod candidate;
mod codec;
pub mod cpio;
mod elf;
mod error;
mod file;
mod foreign;
mod limits;
mod package;
mod text;
mod tree;
mod uki;

use std::fmt;
use std::path::Path;

pub use candidate::hash_file;
pub use codec::unpacked;
pub use elf::{Loadable, LoadableSegment, executable_segments, loadable, machine_name};
pub use error::{ImageError, ImageFault, LooksLike};
pub use limits::{MAX_FILE_BYTES, MAX_KERNEL_BYTES, MAX_WINDOW_MIB};
pub use package::{Choice, PackageFile, read_package};
pub use tree::vmlinux_of;

/// A kernel, ready to boot, and what its file states about it.
///
/// `release`, `banner` and `config` are the file's own words: printable ASCII the first two, of
/// all three of bounded length, but not verified.
#[derive(Debug)]
pub struct KernelImage {
    /// The kernel's release, as `uname -r` prints it: `6.1.0-56-cloud-amd64`.
    pub release: Option<String>,
    /// The line the kernel prints first (`Linux version …`), or, where its unpacked form does not
    /// hold that, the version string of the setup header.
    pub banner: Option<String>,
    /// The linker's identification of it: its GNU build ID.
    pub build_id: Option<Vec<u8>>,
    /// What to hand to QEMU's `-kernel`.
    pub boot: Boot,
    /// The kernel's configuration: built in by `CONFIG_IKCONFIG`, or else the file beside it
    /// in its package.
    pub config: Option<String>,
}

/// A bootable form of a kernel.
pub enum Boot {
    /// An uncompressed x86-64 ELF file with a PVH note, which QEMU enters directly. Bytes after the
    /// last segment (relocations) may follow; QEMU ignores them.
    Pvh(Vec<u8>),
    /// Its kernel has no PVH note, so QEMU's linuxboot path must start it.
    BzImage {
        /// The bzImage as it was.
        image: Vec<u8>,
        /// What it unpacks, unless it is told to randomise addresses: at which physical address is
        /// its own choice, and at the virtual addresses of this file.
        vmlinux: Vec<u8>,
    },
}

impl KernelImage {
    /// What compiled it, in the compiler's own words: `gcc-12 (Debian 12.2.0-14) 12.2.0`. None if
    /// its banner is not known.
    pub fn compiler(&self) -> Option<String> {
        text::compiler_of_banner(self.banner.as_deref()?)
    }
}

impl fmt::Debug for Boot {
    /// Shows the length only: the bytes are tens of MiB.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, bytes) = match self {
            Self::Pvh(bytes) => ("Pvh", bytes),
            Self::BzImage { image, .. } => ("BzImage", image),
        };
        write!(f, "{name}({} bytes)", bytes.len())
    }
}

/// Reads the kernel file at `path`, or in that build folder, and makes it bootable.
///
/// # Errors
/// [`ImageError`] names the file, what is wrong and what to do: see [`ImageFault`] for the cases.
pub fn load(path: &Path) -> Result<KernelImage, ImageError> {
    let file = tree::kernel_file(path).map_err(|fault| fault.at(path))?;
    open_and_load(&file).map_err(|fault| fault.at(&file))
}

fn open_and_load(path: &Path) -> Result<KernelImage, ImageFault> {
    let (source, container) = candidate::open(path)?;
    let Some(container) = container else { return from_bytes(source.read_all()?) };
    let package = (container.extract)(source)?;
    let mut kernel = from_bytes(package.vmlinuz)?;
    kernel.config = kernel.config.or(package.config);
    Ok(kernel)
}

fn from_bytes(bytes: Vec<u8>) -> Result<KernelImage, ImageFault> {
    // A bzImage is an EFI program, too.
    if elf::is_elf(&bytes) || bzimage::has_setup_header(&bytes) {
        return from_kernel(bytes);
    }
    from_kernel(uki::kernel(bytes)?)
}

fn from_kernel(bytes: Vec<u8>) -> Result<KernelImage, ImageFault> {
    if elf::is_elf(&bytes) {
        from_vmlinux(bytes)
    } else if bzimage::has_setup_header(&bytes) {
        from_bzimage(bytes)
    } else {
        Err(foreign::describe(&bytes))
    }
}

fn from_vmlinux(bytes: Vec<u8>) -> Result<KernelImage, ImageFault> {
    elf::check(&bytes)?;
    let banner = text::linux_banner(&bytes);
    if !elf::has_pvh_note(&bytes) {
        // Every Linux holds its banner, so without it this is some other program.
        return Err(banner.map_or_else(elf::not_a_kernel, |_| ImageFault::NoPvhNote));
    }
    let release = banner.as_deref().and_then(text::release_of_banner);
    let config = text::built_in_config(&bytes);
    let build_id = elf::build_id(&bytes);
    Ok(KernelImage { release, banner, build_id, boot: Boot::Pvh(bytes), config })
}

fn from_bzimage(bytes: Vec<u8>) -> Result<KernelImage, ImageFault> {
    let header = bzimage::Header::read(&bytes)?;
    let vmlinux = codec::unpack(header.payload(&bytes)?)?;
    bzimage::check_payload(&vmlinux)?;
    let version = header.version_string(&bytes);
    let banner = text::linux_banner(&vmlinux).or_else(|| version.clone());
    let release = version
        .as_deref()
        .and_then(text::first_word)
        .or_else(|| banner.as_deref().and_then(text::release_of_banner));
    let (build_id, config) = (elf::build_id(&vmlinux), text::built_in_config(&vmlinux));
    let boot = if elf::has_pvh_note(&vmlinux) {
        Boot::Pvh(vmlinux)
    } else {
        Boot::BzImage { image: bytes, vmlinux }
    };
    Ok(KernelImage { release, banner, build_id, boot, config })
}
