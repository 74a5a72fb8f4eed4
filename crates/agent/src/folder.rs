//! What is in a folder.

use pathmeter_probes::sys::{self, CStr, flag};

/// Bytes of entries that are read at a time.
const SPACE: usize = 2048;

/// An entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    /// What the file is, as getdents64(2) has it.
    pub(crate) kind: u8,
    pub(crate) name: &'a [u8],
}

/// Hands each entry of the folder to `found`; a folder that can't be read has none.
pub(crate) fn each_entry(folder: CStr<'_>, mut found: impl FnMut(Entry<'_>)) {
    let Ok(fd) = sys::open(folder, flag::O_RDONLY | flag::O_NONBLOCK, 0) else { return };
    let mut space = [0; SPACE];
    while let Ok(count @ 1..) = sys::entries(fd, &mut space) {
        let mut rest = space.get(..count).unwrap_or_default();
        while let Some((entry, after)) = first(rest) {
            rest = after;
            found(entry);
        }
    }
    let _ = sys::close(fd);
}

/// The first of these `struct linux_dirent64`, and those after it.
fn first(entries: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    const LENGTH: usize = 16;
    const KIND: usize = 18;
    const NAME: usize = 19;
    let length = entries.get(LENGTH..)?.first_chunk::<2>()?;
    let (this, after) = entries.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    let name = this.get(NAME..)?;
    let end = name.iter().position(|byte| *byte == 0)?;
    Some((Entry { kind: *this.get(KIND)?, name: name.get(..end)? }, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry as the kernel writes it: number, offset, length, type, name.
    fn directory_entry(kind: u8, name: &[u8]) -> Vec<u8> {
        let mut entry = vec![0; (20 + name.len()).next_multiple_of(8)];
        let length = u16::try_from(entry.len()).unwrap();
        entry[16..18].copy_from_slice(&length.to_le_bytes());
        entry[18] = kind;
        entry[19..19 + name.len()].copy_from_slice(name);
        entry
    }

    #[test]
    fn entries_are_read_one_after_the_other() {
        let entries = [directory_entry(8, b"mds"), directory_entry(4, b"meltdown")].concat();
        let (one, rest) = first(&entries).unwrap();
        let (other, rest) = first(rest).unwrap();
        assert_eq!((one.kind, one.name), (8, &b"mds"[..]));
        assert_eq!((other.kind, other.name, rest), (4, &b"meltdown"[..], &b""[..]));
        assert_eq!(first(rest), None);
    }

    #[test]
    fn entries_that_are_cut_or_claim_too_much_are_none() {
        let whole = directory_entry(8, b"mds");
        assert_eq!(first(&whole[..whole.len() - 1]), None);
        for length in [0, 18, 19, 0xffff] {
            let mut wrong = whole.clone();
            wrong[16..18].copy_from_slice(&u16::to_le_bytes(length));
            assert_eq!(first(&wrong), None);
        }
    }
}
