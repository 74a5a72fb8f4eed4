//! `/dev` of a run: a copy of the device nodes that there are when it begins.
//!
//! The kernel has one devtmpfs, so what a program makes or removes in there would stay.

use pathmeter_probes::sys::{self, CStr, flag};

use crate::path::Path;

/// Folders below `/dev` are copied to this depth, which no driver of Linux exceeds.
const DEEPEST: usize = 4;
/// Bytes of a folder's entries that are read at a time.
const SPACE: usize = 2048;
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
    let Ok(fd) = sys::open(path.as_c(), flag::O_RDONLY, 0) else { return };
    let mut space = [0; SPACE];
    while let Ok(count @ 1..) = sys::entries(fd, &mut space) {
        let mut rest = &space[..count];
        while let Some((kind, name, after)) = entry(rest) {
            rest = after;
            copy_one(folder, kind, name, deeper);
        }
    }
    let _ = sys::close(fd);
}

/// The first of the `struct linux_dirent64`: what the file is, its name, and the entries after it.
fn entry(entries: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    const LENGTH: usize = 16;
    const KIND: usize = 18;
    const NAME: usize = 19;
    let length = entries.get(LENGTH..KIND)?;
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    let (this, after) = entries.split_at_checked(length)?;
    let name = this.get(NAME..)?;
    let end = name.iter().position(|byte| *byte == 0)?;
    Some((this[KIND], &name[..end], after))
}

fn copy_one(folder: &[u8], kind: u8, name: &[u8], deeper: usize) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_one_after_the_other_and_none_past_the_end() {
        let mut bytes = vec![0; 24 + 32];
        for (at, length, kind, name) in [(0, 24, DT_CHR, &b"null"[..]), (24, 32, DT_DIR, b"pts")] {
            bytes[at + 16] = length;
            bytes[at + 18] = kind;
            bytes[at + 19..at + 19 + name.len()].copy_from_slice(name);
        }
        let (kind, name, rest) = entry(&bytes).unwrap();
        assert_eq!((kind, name), (DT_CHR, &b"null"[..]));
        let (kind, name, rest) = entry(rest).unwrap();
        assert_eq!((kind, name, rest.len()), (DT_DIR, &b"pts"[..], 0));
        assert!(entry(rest).is_none() && entry(&bytes[..23]).is_none());
        assert!(entry(&[0; 64]).is_none());
    }
}
