//! `/dev` of a run: a copy of the device nodes that there are when it begins.
//!
//! The kernel has one devtmpfs, so what a program makes or removes in there would stay.

use pathmeter_probes::sys::{self, CStr};

use crate::{
    folder::{Entry, each_entry},
    path::Path,
};

/// Folders below `/dev` are copied to this depth, which no driver of Linux exceeds.
const DEEPEST: usize = 4;
/// What getdents64(2) says of what a file is.
const DT_CHR: u8 = 2;
const DT_DIR: u8 = 4;
const DT_BLK: u8 = 6;

/// Links that programs expect, which udev would make.
const LINKS: [(&[u8], &[u8]); 4] = [
    (b"dev/fd\0", b"/proc/self/fd\0"),
    (b"dev/stdin\0", b"/proc/self/fd/0\0"),
    (b"dev/stdout\0", b"/proc/self/fd/1\0"),
    (b"dev/stderr\0", b"/proc/self/fd/2\0"),
];

/// Copies the nodes of `/dev` to the folder `dev`; what can't be copied is not there.
pub(crate) fn copy() {
    copy_folder(b"/dev", DEEPEST);
    for (place, target) in LINKS {
        let _ = sys::link_symbolically(CStr::new(target), CStr::new(place));
    }
}

fn copy_folder(folder: &[u8], deeper: usize) {
    let path = Path::of(folder, core::iter::empty());
    each_entry(path.as_c(), |entry| copy_one(folder, entry, deeper));
}

fn copy_one(folder: &[u8], Entry { kind, name }: Entry<'_>, deeper: usize) {
    let path = Path::of(folder, core::iter::once(b'/').chain(name.iter().copied()));
    let from = path.bytes();
    // Without the leading `/`.
    let to = CStr::new(&from[1..]);
    match kind {
        DT_CHR | DT_BLK => {
            if let Ok((mode, device)) = sys::node(path.as_c()) {
                let _ = sys::mknod(to, mode, device);
            }
        }
        DT_DIR if deeper > 0 && name != b"." && name != b".." => {
            let _ = sys::mkdir(to, 0o755);
            let length = from.iter().position(|byte| *byte == 0).unwrap_or(from.len());
            copy_folder(&from[..length], deeper - 1);
        }
        _ => {}
    }
}
