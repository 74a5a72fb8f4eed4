//! What the kernel's own files show of a condition's settings, for the host to judge.
//!
//! Only a guest under a condition reads them, before READY. A file system that is mounted for it is
//! gone again by then.

use pathmeter_probes::sys::{self, CStr, flag};
use pathmeter_wire::{condition::MAX_SHOWN_TEXT, message::Shown};

use crate::{path::Path, port::Port};

/// File systems that not everything has mounted: what begins the paths in them, where they are
/// mounted, and their type.
const MOUNTS: [(&[u8], &[u8], &[u8]); 2] = [
    (b"/sys/kernel/security/", b"/sys/kernel/security\0", b"securityfs\0"),
    (b"/sys/kernel/debug/", b"/sys/kernel/debug\0", b"debugfs\0"),
];
/// Longest line that is looked at; of the kernel's log no record is longer.
const MAX_LINE: usize = 8192;
/// There is no further record.
const EAGAIN: i32 = 11;
/// Older records of the log were overwritten while it was read.
const EPIPE: i32 = 32;

/// Sends the lines of the file at `path` in which `part` stands.
pub(crate) fn send(port: &mut Port, file: u64, (path, part): (&[u8], &[u8])) {
    let mounted = MOUNTS.iter().find(|(begin, ..)| path.starts_with(begin));
    if let Some((_, place, kind)) = mounted {
        let _ = sys::mkdir(CStr::new(place), 0o755);
        let _ = sys::mount(CStr::new(kind), CStr::new(place), CStr::new(kind));
    }
    let mut found = Found { text: [0; MAX_SHOWN_TEXT], length: 0 };
    let path = Path::of(path, core::iter::empty());
    let read = lines(path.as_c(), |line| {
        if holds(line, part) {
            found.add(line);
        }
    });
    if let Some((_, place, _)) = mounted {
        let _ = sys::unmount(CStr::new(place), flag::MNT_DETACH);
    }
    let error = read.err().map_or(0, |error| u64::from(error.unsigned_abs()));
    port.send_shown(&Shown { file, error, text: &found.text[..found.length] });
}

/// Lines, as far as they fit.
struct Found {
    text: [u8; MAX_SHOWN_TEXT],
    length: usize,
}

impl Found {
    fn add(&mut self, line: &[u8]) {
        let space = &mut self.text[self.length..];
        let bytes = line.iter().chain(b"\n");
        self.length += space.iter_mut().zip(bytes).map(|(place, byte)| *place = *byte).count();
    }
}

fn holds(line: &[u8], part: &[u8]) -> bool {
    part.is_empty() || line.windows(part.len()).any(|piece| piece == part)
}

/// Hands each line of a file to `take`. Reading the kernel's log ends where it would wait.
#[allow(clippy::large_stack_arrays, reason = "a stack has 8 MiB")]
fn lines(path: CStr<'_>, mut take: impl FnMut(&[u8])) -> Result<(), i32> {
    let fd = sys::open(path, flag::O_RDONLY | flag::O_NONBLOCK, 0)?;
    let mut space = [0; MAX_LINE];
    let mut kept = 0;
    let ended = loop {
        match sys::read(fd, &mut space[kept..]) {
            Ok(0) | Err(EAGAIN) => break Ok(()),
            Ok(count) => kept += count,
            Err(EPIPE) => {}
            Err(error) => break Err(error),
        }
        while let Some(end) = space[..kept].iter().position(|byte| *byte == b'\n') {
            take(&space[..end]);
            space.copy_within(end + 1..kept, 0);
            kept -= end + 1;
        }
        // What is longer than any line is cut.
        if kept == MAX_LINE {
            take(&space);
            kept = 0;
        }
    };
    if kept > 0 {
        take(&space[..kept]);
    }
    let _ = sys::close(fd);
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_lines(text: &[u8], part: &[u8]) -> Vec<u8> {
        let (process, thread) = (std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(format!("pathmeter-shown-{process}-{thread:?}"));
        std::fs::write(&path, text).unwrap();
        let name = format!("{}\0", path.display());
        let mut found = Found { text: [0; MAX_SHOWN_TEXT], length: 0 };
        let read = lines(CStr::new(name.as_bytes()), |line| {
            if holds(line, part) {
                found.add(line);
            }
        });
        std::fs::remove_file(path).unwrap();
        assert_eq!(read, Ok(()));
        found.text[..found.length].to_vec()
    }

    #[test]
    fn lines_that_hold_a_part_are_found_however_long_others_are() {
        let long = [&b"x".repeat(3 * MAX_LINE)[..], b"\none two\nthree\ntwo"].concat();
        assert_eq!(find_lines(&long, b"two"), b"one two\ntwo\n");
        assert_eq!(find_lines(b"always [never]\n", b""), b"always [never]\n");
        assert_eq!(find_lines(b"", b""), b"");
    }

    #[test]
    fn no_more_is_kept_than_is_sent() {
        assert_eq!(find_lines(&b"line\n".repeat(1000), b"").len(), MAX_SHOWN_TEXT);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert_eq!(lines(CStr::new(b"/nonexistent\0"), |_| ()), Err(2));
    }
}
