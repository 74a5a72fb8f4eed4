//! A filter of system calls, and the file by which measured processes restrain themselves.

use pathmeter_wire::condition::{FilterFlags, Restraint};

/// A filter of system calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// How it is shown.
    pub name: String,
    /// How it is installed.
    pub flags: FilterFlags,
    /// The program, as the kernel takes it.
    pub program: Vec<u8>,
}

impl Filter {
    /// The file in which a program on a live host finds it.
    pub fn file(&self) -> Vec<u8> {
        restraint(0, Some(self))
    }
}

/// The file in which the agent finds by what measured processes restrain themselves.
pub(super) fn restraint(layers: u8, filter: Option<&Filter>) -> Vec<u8> {
    let flags = filter.map_or(FilterFlags { flags: 0, may_lack: false }, |filter| filter.flags);
    let head = Restraint { flags, layers }.to_bytes();
    [&head[..], filter.map_or(&[], |filter| &filter.program)].concat()
}
