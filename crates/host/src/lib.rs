//! The host that pathmeter runs on, as a subject: what it is ([`Machine`]), and times of paths on
//! it ([`Session`]).
//!
//! Paths are executed by a program without libc, the agent's sibling (`../live`), which comes in
//! this crate's bytes.

mod machine;
mod server;

pub use machine::Machine;
pub use server::{Came, Ground, Request, Server, ServerError};

/// The program of live hosts, whose windows are batches of calls.
const TIMING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/batches/pathmeter_program"));
/// The same with windows of one call, and stamps that read the processor's counter.
pub const COUNTING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/counter/pathmeter_program"));
/// The same with the agent's stamps, which read the clock.
pub const CLOCK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clock/pathmeter_program"));
