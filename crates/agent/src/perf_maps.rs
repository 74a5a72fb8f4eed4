//! The perf maps of all runs: `/tmp/perf-PROCESS.map`, in which a JIT names the code that it makes
//! (Linux `tools/perf/Documentation/jit-interface.txt`). The host is sent them as they are.
//!
//! Each is kept in memory until all runs are over, whether the host wants it or not: so that what
//! is asked for changes no run. What a program put in a map's place need be no file, or may be of
//! any size.

use pathmeter_probes::sys::{self, CStr, flag};
use pathmeter_wire::program::{MAX_PERF_MAP, MAX_PERF_MAP_BYTES, MAX_PERF_MAPS, PerfMap};

use crate::{folder::each_entry, path::Path, port::Port};

/// A map that was kept.
#[derive(Clone, Copy)]
struct Kept {
    run: u64,
    process: u64,
    /// Bytes of the whole file, kept or not.
    total: u64,
    /// How many of these bytes are kept.
    length: usize,
}

/// The maps that were kept, of all runs.
pub(crate) struct PerfMaps {
    maps: [Kept; MAX_PERF_MAPS],
    count: usize,
    /// What all of them hold, one after the other.
    bytes: &'static mut [u8],
    length: usize,
}

impl PerfMaps {
    pub(crate) fn new() -> Self {
        // Pages are only taken as they are written to.
        let flags = flag::MAP_PRIVATE | flag::MAP_NORESERVE;
        let bytes: &mut [u8] = match sys::map(MAX_PERF_MAP_BYTES, flags) {
            // SAFETY: the mapping is this one's alone, and is never unmapped.
            Ok(at) => unsafe { core::slice::from_raw_parts_mut(at as *mut u8, MAX_PERF_MAP_BYTES) },
            Err(_) => &mut [],
        };
        let none = Kept { run: 0, process: 0, total: 0, length: 0 };
        Self { maps: [none; MAX_PERF_MAPS], count: 0, bytes, length: 0 }
    }

    /// Keeps those of the run, whose processes have ended.
    pub(crate) fn keep(&mut self, run: u64) {
        each_entry(CStr::new(b"/tmp\0"), |entry| {
            let Some(process) = process_of(entry.name) else { return };
            let path = Path::from_parts(&[b"/tmp/", entry.name]);
            // A FIFO would wait for a writer.
            let opened = sys::open(path.as_c(), flag::O_RDONLY | flag::O_NONBLOCK, 0);
            let Ok(file) = opened else { return };
            self.keep_one(file, (run, process));
            let _ = sys::close(file);
        });
    }

    /// Keeps a file; of one that there is no room for, only how large it is.
    fn keep_one(&mut self, file: usize, (run, process): (u64, u64)) {
        let Ok(total) = sys::seek(file, 0, flag::SEEK_END) else { return };
        let Some(kept) = self.maps.get_mut(self.count) else { return };
        let room = self.bytes.get_mut(self.length..).unwrap_or_default();
        let mut length = 0;
        if let Some(space) = room.get_mut(..total) {
            while let Ok(count @ 1..) = sys::read_at(file, &mut space[length..], length) {
                length += count;
            }
        }
        *kept = Kept { run, process, total: total as u64, length };
        self.count += 1;
        self.length += length;
    }

    pub(crate) fn send(&self, port: &mut Port) {
        let mut rest = &self.bytes[..self.length];
        for Kept { run, process, total, length } in self.maps.iter().copied().take(self.count) {
            let (bytes, after) = rest.split_at(length);
            rest = after;
            port.send_perf_map(&PerfMap { run, process, total, bytes: &[] });
            for bytes in bytes.chunks(MAX_PERF_MAP) {
                port.send_perf_map(&PerfMap { run, process, total, bytes });
            }
        }
    }
}

/// The process that a file of this name is the map of.
fn process_of(name: &[u8]) -> Option<u64> {
    let digits = name.strip_prefix(b"perf-")?.strip_suffix(b".map")?;
    let digits = core::str::from_utf8(digits).ok()?;
    let number: u32 = digits.parse().ok()?;
    // Neither a sign nor zeros before it.
    (!digits.starts_with(['+', '0'])).then_some(u64::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_told_by_their_names() {
        assert_eq!(process_of(b"perf-71.map"), Some(71));
        for name in [
            &b"perf-.map"[..],
            b"perf-71.map~",
            b"perf-0.map",
            b"perf-07.map",
            b"perf-+7.map",
            b"perf--7.map",
            b"perf-4294967296.map",
            b"perf-x.map",
            b"perf-71",
            b"perf.map",
            b"\xff",
        ] {
            assert_eq!(process_of(name), None, "{name:?}");
        }
    }
}
