//! The file system that a program begins in, as the condition has it: one on the kernel's RAM disk
//! (Linux `drivers/block/brd.c`), made anew by its own program before each run and mounted at
//! `/disk`; or an overlay, which is then all of the run's root, as a container's, and whose lower
//! layer may be a squashfs ([`squashfs`]).
//!
//! All pages of the RAM disk are taken once, before the first run: no run has to take one. Nothing
//! of this is counted, but the work of the file system for the program.

mod squashfs;

use pathmeter_probes::{
    sys::{self, CStr, errno, flag},
    text::Text,
};
use pathmeter_wire::{job::Job, plan};

use crate::{
    file::{Held, contents, words},
    refusal::{Refusal, kernel_refusal, not_taken, unknown},
    tool,
    trouble::Trouble,
    unpack,
};

/// File systems that a program makes, by the names that mount(2) has.
const TYPES: [&[u8]; 3] = [b"ext4\0", b"xfs\0", b"btrfs\0"];
const OVERLAY: &[u8] = b"overlay\0";
/// The lower layer, in the folder that the root is made in.
const BELOW: &[u8] = b"below\0";
/// What is merged, by its places there.
const LAYERS: &[u8] = b"lowerdir=below,upperdir=above,workdir=work\0";

/// Blocks that are given back would be pages that a run has to take again.
const NO_DISCARD: &[u8] = b"nodiscard\0";

const DEVICE: CStr<'static> = CStr::new(b"/dev/ram0\0");
const MIB: usize = 1 << 20;
/// Beside the disk, for the files' own pages and all else, in MiB.
const SPARE_MIB: usize = 64;

/// Where a run's files are.
#[derive(Clone, Copy)]
pub(crate) enum Disk {
    Memory,
    /// In memory, below an overlay of two layers.
    Overlay,
    /// In a squashfs, below such an overlay.
    Squashfs,
    /// In memory, and what the program makes in its first folder is on a disk.
    Made {
        /// The type of its file system, as mount(2) takes it.
        kind: &'static [u8],
        /// The program that makes that.
        maker: Job<'static>,
    },
}

impl Disk {
    /// What the setting has, for a program with these files: an overlay, a squashfs of the files,
    /// or the kernel's RAM disk, with all its pages.
    pub(crate) fn of((kind, how): (&[u8], &[u8]), files: &[u8]) -> Result<Self, Refusal> {
        if OVERLAY.strip_suffix(b"\0") == Some(kind) {
            return Ok(Self::Overlay);
        }
        if squashfs::KIND.strip_suffix(b"\0") == Some(kind) {
            return squashfs::make(how, files).map(|()| Self::Squashfs);
        }
        let known = TYPES.into_iter().find(|known| known.strip_suffix(b"\0") == Some(kind));
        let mut words = words(how);
        let (size, maker) = (words.next().and_then(plan::number), words.next());
        let (Some(kind), Some(mib), Some(maker)) = (known, size, maker) else {
            return Err(kernel_refusal(format_args!("the agent does not understand it")));
        };
        fill(mib as usize)?;
        Ok(Self::Made { kind, maker: tool::read(maker)? })
    }

    /// Makes the file system anew.
    pub(crate) fn make(&self) -> Result<(), Refusal> {
        match self {
            Self::Made { maker, .. } => tool::execute_job(maker, None),
            _ => Ok(()),
        }
    }

    /// In the folder that a root is made in: enters the one that is to be below an overlay, and has
    /// the program's files there, or in that folder itself.
    pub(crate) fn unpack(&self, files: &[u8]) -> Result<(), Trouble> {
        if self.is_below() {
            for layer in [BELOW, &b"above\0"[..], b"work\0", b"root\0"] {
                sys::mkdir(CStr::new(layer), 0o755).map_err(|error| failed(OVERLAY, error))?;
            }
            if matches!(self, Self::Squashfs) {
                squashfs::mount(CStr::new(BELOW))?;
            }
            sys::change_folder(CStr::new(BELOW)).map_err(|error| failed(OVERLAY, error))?;
        }
        if matches!(self, Self::Squashfs) {
            return Ok(());
        }
        unpack::files(files).map_err(|error| {
            Text::format(format_args!(
                "the program's files can't be unpacked (error {error}): give the guest more \
                 --memory"
            ))
        })
    }

    /// Whether an overlay is above the files.
    fn is_below(&self) -> bool {
        matches!(self, Self::Overlay | Self::Squashfs)
    }

    /// In the folder that has the program's files: mounts what there is.
    pub(crate) fn mount(&self) -> Result<(), Trouble> {
        let (kind, mounted) = match self {
            Self::Memory => return Ok(()),
            Self::Overlay | Self::Squashfs => (OVERLAY, overlay()),
            Self::Made { kind, .. } => {
                let place = CStr::new(b"disk\0");
                let _ = sys::mkdir(place, 0o755);
                (*kind, sys::mount_with(DEVICE, place, CStr::new(kind), 0, CStr::new(NO_DISCARD)))
            }
        };
        mounted.map(drop).map_err(|error| failed(kind, error))
    }

    /// The folder in which a program is started.
    pub(crate) fn folder(&self) -> CStr<'static> {
        CStr::new(match self {
            Self::Made { .. } => b"/disk\0",
            _ => b"/tmp\0",
        })
    }

    /// Proves that the disk is mounted, in a root that was entered, by the kernel's list of mounts;
    /// of a squashfs also by reading this file.
    pub(crate) fn prove_mount(&self, file: &[u8]) -> Result<Held, Refusal> {
        let (place, kind) = match self {
            Self::Memory => (&b""[..], &b""[..]),
            Self::Overlay | Self::Squashfs => (&b"/"[..], OVERLAY),
            Self::Made { kind, .. } => (&b"/disk"[..], *kind),
        };
        let kind = kind.strip_suffix(b"\0").unwrap_or(kind);
        let mut text = [0; 4096];
        let length = contents(CStr::new(b"/proc/mounts\0"), &mut text).map_err(not_taken)?;
        let is_it = |line: &&[u8]| {
            let mut words = words(line).skip(1);
            words.next() == Some(place) && words.next() == Some(kind)
        };
        let line = text[..length].split(|byte| *byte == b'\n').find(is_it);
        let text = |bytes| core::str::from_utf8(bytes).unwrap_or("?");
        let line =
            line.ok_or_else(|| kernel_refusal(format_args!("{} is not mounted", text(kind))))?;
        if matches!(self, Self::Squashfs) {
            return squashfs::prove_overlay(text(line), file);
        }
        Ok(Held::from_message(format_args!("/proc/mounts has {}", text(line))))
    }
}

/// The overlay of what is below this folder's parent, and this process in it.
fn overlay() -> sys::Ret {
    let root = CStr::new(b"root\0");
    sys::change_folder(CStr::new(b"..\0"))?;
    let kind = CStr::new(OVERLAY);
    sys::mount_with(kind, root, kind, 0, CStr::new(LAYERS))?;
    sys::change_folder(root)
}

/// Takes all pages of the RAM disk, past the kernel's cache of it.
fn fill(mib: usize) -> Result<(), Refusal> {
    const O_DIRECT: usize = 0o40_000;
    has_room(mib)?;
    let device = open(O_DIRECT)?;
    let filled = fill_device(device, mib);
    let _ = sys::close(device);
    filled
}

/// Whether the guest has so much memory to give away.
fn has_room(mib: usize) -> Result<(), Refusal> {
    let free = free_mib();
    if free >= mib + SPARE_MIB {
        return Ok(());
    }
    Err(kernel_refusal(format_args!(
        "it takes {mib} MiB of the guest's memory, of which {free} are free: give it {} more by \
         --memory",
        mib + SPARE_MIB - free
    )))
}

/// The RAM disk, opened to be written to.
fn open(flags: usize) -> Result<usize, Refusal> {
    sys::open(DEVICE, flag::O_WRONLY | flags, 0).map_err(|error| match error {
        errno::ENOENT | errno::ENXIO => unknown(
            "this kernel has no RAM disk: the module brd is in its package (CONFIG_BLK_DEV_RAM)",
        ),
        error => kernel_refusal(format_args!("/dev/ram0 can't be opened (error {error})")),
    })
}

fn fill_device(device: usize, mib: usize) -> Result<(), Refusal> {
    let size = sys::seek(device, 0, flag::SEEK_END).unwrap_or(0);
    if size != mib * MIB {
        return Err(kernel_refusal(format_args!(
            "/dev/ram0 has {size} bytes instead of {mib} MiB"
        )));
    }
    let failed =
        |error: i32| kernel_refusal(format_args!("/dev/ram0 can't be filled (error {error})"));
    let kept = sys::mapped();
    let zeros = sys::map(MIB, flag::MAP_PRIVATE).map_err(failed)?;
    // SAFETY: mapped just now, zeroed, and known to nobody else.
    let zeros = unsafe { core::slice::from_raw_parts(zeros as *const u8, MIB) };
    let written = (0..mib).try_for_each(|at| match sys::write_at(device, zeros, at * MIB) {
        Ok(MIB) => Ok(()),
        Ok(_) => Err(errno::EINVAL),
        Err(error) => Err(error),
    });
    // SAFETY: only `zeros` was mapped since, and it is not used any more.
    unsafe { sys::unmap_since(kept) };
    written.map_err(failed)
}

/// What the kernel has of memory that it can give away, in MiB; 0 if it does not say.
fn free_mib() -> usize {
    let mut text = [0; 2048];
    let length = contents(CStr::new(b"/proc/meminfo\0"), &mut text).unwrap_or(0);
    let mut words = words(&text[..length]).skip_while(|word| *word != b"MemAvailable:").skip(1);
    let kib = words.next().and_then(plan::number).unwrap_or(0);
    kib as usize / 1024
}

/// Why a file system can't be mounted.
fn failed(kind: &[u8], error: i32) -> Trouble {
    let kind = core::str::from_utf8(kind).unwrap_or("?").trim_end_matches('\0');
    match error {
        errno::ENODEV => Text::format(format_args!(
            "this kernel has no {kind}, or its module was not found (error {error})"
        )),
        error => Text::format(format_args!("{kind} can't be mounted (error {error})")),
    }
}
