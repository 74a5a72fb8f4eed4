//! The host that pathmeter runs on, as a subject: what it is ([`machine`]), and times of paths on
//! it ([`measure`]).
//!
//! Paths are executed by a program without libc, the agent's sibling (`../live`), which comes in
//! this crate's bytes. Nothing stays changed on the host: the program has namespaces of its own
//! where it may, ends with the process that started it, and pins and schedules only itself. A
//! condition's control group is removed by a guard, however this process ends.

mod arch;
mod bpf;
mod btf;
mod cgroup;
mod clock;
mod condition;
mod enough;
mod machine;
mod memory;
mod mounts;
mod path;
mod quantity;
mod server;
mod session;
mod surroundings;
mod tracepoint;

use std::io::{self, Read};

use flate2::read::ZlibDecoder;

pub use bpf::{Programs, ProgramsError};
pub use cgroup::{GroupError, Limit};
pub use condition::{Condition, Setting};
pub use machine::machine;
pub use path::{HostPath, host_paths};
pub use server::ServerError;
pub use session::{Progress, SessionError, Wanted, allowed_cpus, measure};
pub use surroundings::Surroundings;
pub use tracepoint::{TracepointError, number as tracepoint_number};

/// The program of live hosts, whose windows are batches of calls: 2.4 MB that are the same code
/// many times, and so 0.2 MB here.
fn timing_program() -> Result<Vec<u8>, io::Error> {
    const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/batches/packed"));
    let mut program = Vec::new();
    ZlibDecoder::new(PACKED).read_to_end(&mut program)?;
    Ok(program)
}
/// The same with windows of one call, and stamps that read the processor's counter.
pub const COUNTING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/counter/pathmeter_program"));
/// The same with the agent's stamps, which read the clock.
pub const CLOCK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clock/pathmeter_program"));
