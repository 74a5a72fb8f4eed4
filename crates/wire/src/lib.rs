//! What host and agent send each other: the [`parcel`] that the host hands to the guest, with its
//! [`plan`], and the protocol that the agent speaks to the host, over a byte port of its own.
//!
//! In the protocol everything is a frame; integers are little endian:
//!
//! | offset | bytes | field                                                      |
//! |--------|-------|------------------------------------------------------------|
//! | 0      | 2     | [`MAGIC`]                                                  |
//! | 2      | 1     | kind, see [`Kind`]                                         |
//! | 3      | 1     | 0                                                          |
//! | 4      | 4     | payload length in bytes, at most [`MAX_PAYLOAD`]           |
//! | 8      | n     | payload                                                    |
//! | 8 + n  | 4     | CRC-32 (IEEE 802.3) of everything before it                |
//!
//! Payload fields are LEB128 integers and length-prefixed strings, in the order of the writer's
//! methods in [`message`]. Agent and host are built together, so there is no version to negotiate:
//! the checksum only has to catch a guest whose kernel scribbles on the port.
//!
//! The crate allocates nothing and needs no libc: the agent is its first user. The host treats all
//! it decodes as hostile: every length is checked against the bytes that are there.
#![cfg_attr(not(test), no_std)]

pub mod archive;
pub mod condition;
mod crc32;
mod frame;
pub mod job;
pub mod message;
pub mod parcel;
mod payload;
pub mod plan;
pub mod program;
pub mod ruleset;

pub use frame::{
    FrameError, HEADER, MAGIC, MAX_FRAME, MAX_PAYLOAD, RawFrame, TRAILER, next_frame, seal,
};
pub use payload::{PayloadError, Reader, Writer};

/// The kind of a frame: what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The guest is under its condition. It waits to be resumed if its parcel was in its initramfs.
    Ready = 1,
    /// A perturbed run begins one path: if the kernel dies now, this path did it.
    Begin = 2,
    /// What came of one path in one start: status, reason, checks and every sample.
    Outcome = 3,
    /// All runs are done; the guest has nothing more to send.
    Done = 4,
    /// The agent itself can't go on; the text tells why.
    Abort = 5,
    /// The kernel's symbols lie in the agent's memory, for the host to fetch while the guest is
    /// paused.
    Symbols = 6,
    /// A run of the user's program begins.
    ProgramBegin = 7,
    /// A run of the user's program is over: how it ended, and its steps of the clock.
    ProgramEnd = 8,
    /// Bytes that the user's program wrote.
    ProgramOutput = 9,
    /// What one of the kernel's own files about its CPU holds; before Start.
    Fact = 10,
    /// The guest can't be put under its condition: which setting, and why.
    Unmet = 11,
    /// What a file shows of the condition's settings; before Ready.
    Shown = 12,
    /// Bytes of a file in which a JIT of the user's program named its code.
    PerfMap = 13,
    /// The guest is set up and waits for its parcel: where in the agent's memory there is room.
    Start = 14,
}

impl Kind {
    /// The kind with this number, if there is one.
    pub fn from_u8(number: u8) -> Option<Self> {
        const KINDS: [Kind; 14] = [
            Kind::Ready,
            Kind::Begin,
            Kind::Outcome,
            Kind::Done,
            Kind::Abort,
            Kind::Symbols,
            Kind::ProgramBegin,
            Kind::ProgramEnd,
            Kind::ProgramOutput,
            Kind::Fact,
            Kind::Unmet,
            Kind::Shown,
            Kind::PerfMap,
            Kind::Start,
        ];
        KINDS.into_iter().find(|kind| *kind as u8 == number)
    }
}
