//! What the kernel itself prints about its CPU, for the result: `/proc/cpuinfo`, and the files of
//! the folder `vulnerabilities`.
//!
//! They are sent before READY, so that what is measured after it does not depend on them. A kernel
//! without one of them sends nothing of it.

use pathmeter_probes::sys::{self, CStr, flag};
use pathmeter_wire::message::{MAX_FACT, MAX_FACT_NAME, MAX_FACTS};

use crate::{
    folder::{Entry, each_entry},
    port::Port,
};

const FOLDER: &[u8] = b"/sys/devices/system/cpu/vulnerabilities";
pub(crate) fn send(port: &mut Port) {
    send_file(port, b"cpuinfo", CStr::new(b"/proc/cpuinfo\0"));
    let mut left = MAX_FACTS - 1;
    each_entry(CStr::new(&path(b"")), |Entry { name, .. }| {
        if !name.starts_with(b".") && left > 0 && name.len() <= MAX_FACT_NAME {
            send_file(port, name, CStr::new(&path(name)));
            left -= 1;
        }
    });
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

    #[test]
    fn a_path_ends_in_nul() {
        assert!(path(b"mds").starts_with(b"/sys/devices/system/cpu/vulnerabilities/mds\0"));
        assert_eq!(path(&[b'a'; MAX_FACT_NAME]).last(), Some(&0));
    }
}
