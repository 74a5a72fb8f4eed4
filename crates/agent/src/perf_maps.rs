//! The perf maps of a run: `/tmp/perf-PROCESS.map`, in which a JIT names the code that it made
//! (Linux `tools/perf/Documentation/jit-interface.txt`). The host is sent them as they are.
//!
//! They are read after the run's last process ended, in the run's own root. What a program put in
//! their place need be no file, or may be of any size.

use pathmeter_probes::sys::{self, CStr, flag};
use pathmeter_wire::program::{MAX_PERF_MAP, MAX_PERF_MAP_BYTES, MAX_PERF_MAPS, PerfMap};

use crate::{folder::each_entry, path::Path, port::Port};

/// For how many more maps there is room, and for how many bytes.
pub(crate) struct PerfMaps {
    maps: u64,
    bytes: usize,
}

impl PerfMaps {
    /// None sent yet.
    pub(crate) fn new() -> Self {
        Self { maps: MAX_PERF_MAPS, bytes: MAX_PERF_MAP_BYTES as usize }
    }

    /// Sends those of the run.
    pub(crate) fn send(&mut self, port: &mut Port, run: u64) {
        each_entry(CStr::new(b"/tmp\0"), |entry| {
            let Some(process) = process_of(entry.name).filter(|_| self.maps > 0) else { return };
            let path = Path::joined(&[b"/tmp/", entry.name]);
            // A FIFO would wait for a writer.
            let opened = sys::open(path.as_c(), flag::O_RDONLY | flag::O_NONBLOCK, 0);
            let Ok(file) = opened else { return };
            self.maps -= 1;
            self.send_one(port, file, (run, process));
            let _ = sys::close(file);
        });
    }

    /// Sends a file; of one that there is no room for, only how large it is.
    fn send_one(&mut self, port: &mut Port, file: usize, (run, process): (u64, u64)) {
        let Ok(total) = sys::seek(file, 0, flag::SEEK_END) else { return };
        let whole = if total <= self.bytes { total } else { 0 };
        self.bytes -= whole;
        let mut piece = [0; MAX_PERF_MAP];
        let mut sent = 0;
        loop {
            let left = (whole - sent).min(piece.len());
            let count = sys::read_at(file, &mut piece[..left], sent).unwrap_or(0);
            let total = total as u64;
            port.send_perf_map(&PerfMap { run, process, total, bytes: &piece[..count] });
            sent += count;
            if count == 0 || sent == whole {
                return;
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
