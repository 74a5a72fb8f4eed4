//! The files of a package that matter, and what was found of them.

use std::io::Read;

use super::visitor::Visitor;
use crate::error::ImageFault;
use crate::file::{ReadFault, read_exactly, too_large};
use crate::limits::MAX_KERNEL_BYTES;
use crate::text;

/// The bound on a package's metadata; the longest are lists of dependencies.
const MAX_METADATA_BYTES: u64 = 1 << 20;

/// What a kernel package holds.
pub(crate) struct Package {
    /// The bzImage, or a unified kernel image.
    pub(crate) vmlinuz: Vec<u8>,
    /// The configuration beside it, where it stands before the kernel, as names in order do.
    pub(crate) config: Option<String>,
}

/// What a path in a package is to us.
#[derive(Clone, Copy)]
enum Kind {
    Kernel,
    Config,
    Metadata,
    DebugSymbols,
}

/// What the paths of each kind begin and end with.
const KINDS: [(&[u8], &[u8], Kind); 11] = [
    (b"boot/vmlinuz-", b"", Kind::Kernel),
    (b"lib/modules/", b"/vmlinuz", Kind::Kernel),
    (b"usr/lib/modules/", b"/vmlinuz", Kind::Kernel),
    // Fedora's unified kernel image for virtual machines.
    (b"lib/modules/", b"/vmlinuz-virt.efi", Kind::Kernel),
    (b"usr/lib/modules/", b"/vmlinuz-virt.efi", Kind::Kernel),
    (b"boot/config-", b"", Kind::Config),
    (b"lib/modules/", b"/config", Kind::Config),
    (b"usr/lib/modules/", b"/config", Kind::Config),
    (b"usr/lib/debug/", b"", Kind::DebugSymbols),
    // dpkg's; pacman's and apk's.
    (b"control", b"control", Kind::Metadata),
    (b".PKGINFO", b".PKGINFO", Kind::Metadata),
];

fn kind(path: &[u8]) -> Option<Kind> {
    let path = path.strip_prefix(b".").filter(|rest| rest.starts_with(b"/")).unwrap_or(path);
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let is =
        |(start, end, _): &&(&[u8], &[u8], Kind)| path.starts_with(start) && path.ends_with(end);
    KINDS.iter().find(is).map(|(_, _, kind)| *kind)
}

/// What was found in an archive.
#[derive(Default)]
pub(super) struct Found {
    vmlinuz: Option<Vec<u8>>,
    config: Option<String>,
    /// The package's metadata, if the archive holds it.
    pub(super) metadata: Option<String>,
    debug_symbols: bool,
}

impl Visitor for Found {
    fn file(&mut self, path: &[u8], size: u64, data: &mut dyn Read) -> Result<bool, ReadFault> {
        match kind(path) {
            // A hard link in cpio has no data, but where it stands last.
            Some(Kind::Kernel) if size > 0 => self.vmlinuz = Some(read_kernel(size, data)?),
            Some(Kind::Config) => self.config = text::config_text(data),
            Some(Kind::Metadata) => self.metadata = metadata_text(data),
            Some(Kind::DebugSymbols) => self.debug_symbols = true,
            Some(Kind::Kernel) | None => {}
        }
        Ok(self.vmlinuz.is_some() || self.debug_symbols)
    }
}

impl Found {
    /// The kernel; without one, the fault that names the package which has it, as far as `holder`
    /// knows from this one's metadata.
    pub(super) fn kernel(
        self,
        holder: impl FnOnce(Option<String>) -> Option<String>,
    ) -> Result<Package, ImageFault> {
        if let Some(vmlinuz) = self.vmlinuz {
            return Ok(Package { vmlinuz, config: self.config });
        }
        let holder = holder(self.metadata);
        Err(if self.debug_symbols {
            ImageFault::DebugPackage { holder }
        } else {
            ImageFault::NoKernelInPackage { holder }
        })
    }
}

fn read_kernel(size: u64, data: impl Read) -> Result<Vec<u8>, ReadFault> {
    const PART: &str = "vmlinuz in the package";
    if size > MAX_KERNEL_BYTES {
        let fault = too_large(PART, MAX_KERNEL_BYTES, "build a smaller kernel");
        return Err(ReadFault::Other(fault));
    }
    read_exactly(data, size, PART)
}

fn metadata_text(data: impl Read) -> Option<String> {
    let mut text = Vec::new();
    data.take(MAX_METADATA_BYTES).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
