//! What the kernel itself prints about its CPU, for the result: `/proc/cpuinfo`, and the files of
//! the folder `vulnerabilities`.
//!
//! They are sent before READY, so that what is measured after it does not depend on them. A kernel
//! without one of them sends nothing of it.

use pathmeter_probes::sys::{self, CStr, flag};
use pathmeter_wire::message::{MAX_FACT, MAX_FACT_NAME, MAX_FACTS};

use crate::port::Port;

const FOLDER: &[u8] = b"/sys/devices/system/cpu/vulnerabilities";
/// Where in a `struct linux_dirent64` its length is, and where its name begins.
const LENGTH_AT: usize = 16;
const NAME_AT: usize = 19;

/// Sends what there is.
pub(crate) fn send(port: &mut Port) {
    send_file(port, b"cpuinfo", CStr::new(b"/proc/cpuinfo\0"));
    let path = path(b"");
    let Ok(folder) = sys::open(CStr::new(&path), flag::O_RDONLY, 0) else { return };
    let mut buffer = [0; 2048];
    let mut left = MAX_FACTS - 1;
    while let Ok(length @ 1..) = sys::entries(folder, &mut buffer) {
        let mut rest = buffer.get(..length).unwrap_or_default();
        while let Some((name, after)) = first_name(rest) {
            if !name.starts_with(b".") && left > 0 && name.len() <= MAX_FACT_NAME {
                send_file(port, name, CStr::new(&self::path(name)));
                left -= 1;
            }
            rest = after;
        }
    }
    let _ = sys::close(folder);
}

/// The name of the first of these entries, and the entries after it.
fn first_name(entries: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = entries.get(LENGTH_AT..)?.first_chunk::<2>()?;
    let (entry, after) = entries.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    let name = entry.get(NAME_AT..)?;
    let end = name.iter().position(|byte| *byte == 0)?;
    Some((name.get(..end)?, after))
}

/// The path of the file of this name in the folder, with a NUL; of the folder, without a name.
fn path(name: &[u8]) -> [u8; FOLDER.len() + MAX_FACT_NAME + 2] {
    let mut path = [0; FOLDER.len() + MAX_FACT_NAME + 2];
    let parts = FOLDER.iter().chain(b"/").chain(name.iter().take(MAX_FACT_NAME));
    path.iter_mut().zip(parts).for_each(|(place, byte)| *place = *byte);
    path
}

fn send_file(port: &mut Port, name: &[u8], path: CStr<'_>) {
    let Ok(file) = sys::open(path, flag::O_RDONLY, 0) else { return };
    let mut text = [0; MAX_FACT];
    let mut length = 0;
    while let Some(space) = text.get_mut(length..).filter(|space| !space.is_empty()) {
        match sys::read(file, space) {
            Ok(count @ 1..) => length += count,
            _ => break,
        }
    }
    let _ = sys::close(file);
    port.send_fact(name, text.get(..length).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry as the kernel writes it: number, offset, length, type, name.
    fn entry(name: &[u8]) -> Vec<u8> {
        let length = (NAME_AT + name.len() + 1).next_multiple_of(8);
        let mut entry = vec![0; length];
        entry[LENGTH_AT..LENGTH_AT + 2].copy_from_slice(&(length as u16).to_le_bytes());
        entry[NAME_AT..NAME_AT + name.len()].copy_from_slice(name);
        entry
    }

    #[test]
    fn entries_are_read_one_after_the_other() {
        let entries = [entry(b"mds"), entry(b"meltdown")].concat();
        let (first, rest) = first_name(&entries).unwrap();
        let (second, rest) = first_name(rest).unwrap();
        assert_eq!((first, second, rest), (&b"mds"[..], &b"meltdown"[..], &b""[..]));
        assert_eq!(first_name(rest), None);
    }

    #[test]
    fn entries_that_are_cut_or_claim_too_much_are_none() {
        let whole = entry(b"mds");
        assert_eq!(first_name(&whole[..whole.len() - 1]), None);
        let mut endless = entry(b"mds");
        endless[LENGTH_AT] = 0;
        assert_eq!(first_name(&endless), None);
    }

    #[test]
    fn a_path_ends_in_nul() {
        assert!(path(b"mds").starts_with(b"/sys/devices/system/cpu/vulnerabilities/mds\0"));
        assert_eq!(path(&[b'a'; MAX_FACT_NAME]).last(), Some(&0));
    }
}
