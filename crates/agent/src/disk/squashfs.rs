//! A squashfs with the files of the user's program, on the kernel's RAM disk: mksquashfs(8) makes
//! it once, before anything is measured. Each run has it mounted anew as the lower layer of the
//! overlay that is the run's root, so no run finds what another one has read.
//!
//! Sources: Linux `fs/squashfs/`, `<linux/magic.h>`.

use pathmeter_probes::{
    sys::{self, CStr, errno, flag},
    text::Text,
};

use crate::{
    disk::{self, DEVICE, MIB},
    file::Held,
    refusal::{Refusal, kernel_refusal},
    tool,
    trouble::Trouble,
};

/// Its name, as mount(2) takes it.
pub(super) const KIND: &[u8] = b"squashfs\0";
/// What statfs(2) says of it.
const MAGIC: u64 = 0x7371_7368;

/// Makes it of these files, by the program in this file.
pub(super) fn make(program: &[u8], files: &[u8]) -> Result<(), Refusal> {
    // They are there twice while it is made, once compressed.
    disk::has_room(2 * files.len().div_ceil(MIB))?;
    // Without a RAM disk the program would make a file of its name.
    let _ = disk::open(0).map(sys::close)?;
    tool::execute_job(&tool::read(program)?, Some(files))
}

/// Mounts it here, which the kernel must confirm.
pub(super) fn mount(place: CStr<'_>) -> Result<(), Trouble> {
    const MS_RDONLY: usize = 1;
    let (kind, none) = (CStr::new(KIND), CStr::new(b"\0"));
    sys::mount_with(DEVICE, place, kind, MS_RDONLY, none).map_err(|error| match error {
        errno::EINVAL => Text::format(format_args!(
            "squashfs can't be mounted (error {error}): this kernel lacks its decompressor \
             (CONFIG_SQUASHFS_ZLIB)"
        )),
        error => disk::failed(KIND, error),
    })?;
    let held = sys::file_system(place).map_err(|error| disk::failed(KIND, error))?;
    let wrong = || Text::format(format_args!("statfs says {held:#x} of it instead of {MAGIC:#x}"));
    if held == MAGIC { Ok(()) } else { Err(wrong()) }
}

/// Proves the overlay, once [`mount`] has confirmed the lower layer: by the overlay's line in the
/// list of mounts, and by reading this file, which is nowhere else.
pub(super) fn prove_overlay(overlay: &str, file: &[u8]) -> Result<Held, Refusal> {
    let unread =
        |error: i32| kernel_refusal(format_args!("a file in it can't be read (error {error})"));
    let fd = sys::open(CStr::new(file), flag::O_RDONLY, 0).map_err(unread)?;
    let read = sys::read_at(fd, &mut [0; 64], 0);
    let _ = sys::close(fd);
    let read = read.map_err(unread)?;
    Ok(Held::from_message(format_args!(
        "/proc/mounts has {overlay}; statfs says {MAGIC:#x} of the lower layer, of which {read} \
         bytes were read"
    )))
}
