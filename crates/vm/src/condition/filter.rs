//! A filter of system calls, and the file by which measured processes restrain themselves.

use pathmeter_wire::condition::{FilterFlags, Restraint};

/// A filter of system calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The name by which it is shown.
    pub name: String,
    /// The flags it is installed with.
    pub flags: FilterFlags,
    /// The program, as the kernel takes it.
    pub program: Vec<u8>,
    /// What its source names and nobody knows, in words: it is no part of the program.
    pub doubts: Vec<String>,
}

impl Filter {
    /// The file in which a program on a live host finds it.
    pub fn file(&self) -> Vec<u8> {
        restraint(0, None, Some(self))
    }
}

/// A ruleset for Landlock, a security module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruleset {
    /// The name by which it is shown.
    pub name: String,
    /// The ruleset, as the agent reads it (`pathmeter_wire::ruleset`).
    pub bytes: Vec<u8>,
}

/// The file in which the agent finds by what measured processes restrain themselves.
pub(super) fn restraint(layers: u8, ruleset: Option<&Ruleset>, filter: Option<&Filter>) -> Vec<u8> {
    let ruleset = ruleset.map_or(&[][..], |ruleset| &ruleset.bytes);
    // No ruleset is longer (`Setting::parse`).
    let bytes = u16::try_from(ruleset.len()).unwrap_or(u16::MAX);
    let flags = filter.map_or(FilterFlags { flags: 0, may_lack: false }, |filter| filter.flags);
    let head = Restraint { flags, layers, ruleset: bytes }.to_bytes();
    [&head[..], ruleset, filter.map_or(&[], |filter| &filter.program)].concat()
}
