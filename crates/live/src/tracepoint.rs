//! A tracepoint that is counted while a process of a live host takes its times, as `perf stat -e`
//! counts it: in the process and in all that it forks, with nobody who reads what the tracepoint
//! could tell. The count ends with the last of these processes.

use pathmeter_probes::sys;

use crate::event::{Attributes, NONE};

/// An open count of one tracepoint.
pub(crate) struct Tracepoint {
    file: usize,
}

impl Tracepoint {
    /// Begins to count the tracepoint with this number in tracefs.
    pub(crate) fn open(number: u64) -> Result<Self, i32> {
        const TRACEPOINT: u32 = 2;
        const INHERIT: u64 = 1 << 1;
        const CALLER: usize = 0;
        let attributes = Attributes::new(TRACEPOINT, number, INHERIT);
        attributes.open(CALLER, NONE).map(|file| Self { file })
    }

    /// How often it was hit until now; 0 if it can't be read.
    pub(crate) fn hits(&self) -> u64 {
        let mut count = [0; 8];
        let read = sys::read(self.file, &mut count);
        if read == Ok(count.len()) { u64::from_ne_bytes(count) } else { 0 }
    }
}
