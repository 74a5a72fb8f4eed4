//! Exact runs: boots a kernel image in QEMU's interpreter under an instruction-counting clock, has
//! the agent run every path, and hands back every sample. And runs in elapsed time
//! ([`measure_elapsed`]), which differ in the clock, need no snapshot and run paths of their own.
//!
//! The shape of a run ([`measure_plan`]):
//!
//! 1. boot the kernel with the agent as /init, until the agent says START and pauses the guest;
//! 2. save the paused guest as a snapshot, keep it in the cache;
//! 3. restore the snapshot, hand the guest its condition and the plan, resume, collect what the
//!    agent sends until it says DONE;
//! 4. should the kernel die in a path, leave that path out and start over.
//!
//! Contract: the guest is hostile. All that comes from it is bounded in size and checked
//! ([`pathmeter_wire`]); QEMU runs in its seccomp sandbox, without network, disk or display, talks
//! over inherited descriptors only, and is killed on every way out. Only this crate knows QEMU's
//! flags.

mod arch;
mod cache;
mod condition;
mod console;
mod deadline;
mod error;
mod gdb;
mod guest;
mod interrupt;
mod machine;
mod progress;
mod qemu;
mod run;
mod stream;

pub use arch::find_own_words;
pub use arch::{
    CPU_SCHEMA, Cpu, CpuFile, CpuFileError, CpuidRegister, FEATURES, FIRMWARE, FeatureWord,
    Firmware, KnownStates, LACKS_HELP, Lack, Looked, NAMES, PROFILES, Priced, Profile, Sourced,
    ValueFrom,
};
pub use cache::claim::Caller;
pub use cache::entry::{Entry, EntryKind, Key};
pub use cache::{Cache, CacheError, Slot, Sought};
pub use condition::proof::{Proof, ProofState, known_words};
pub use condition::{
    Condition, ConditionError, Disk, Filter, Module, Ruleset, Setting, Sources, Tool, Unmet,
    UnmetCause, refuse_own,
};
pub use error::qemu::{AskError, QemuError};
pub use error::{VmError, is_shortage};
pub use interrupt::{Interrupt, Interrupted};
pub use machine::facts::Facts;
pub use machine::initramfs::{INIT, Job, PATHS, Parcel, agent_sha256};
pub use machine::{BaseWords, Clock, Settings};
pub use pathmeter_wire::condition::{FilterFlags, SettingKind};
pub use pathmeter_wire::plan::{Execution, Plan};
pub use pathmeter_wire::program::{ProgramEnd, ProgramEnded};
pub use pathmeter_wire::ruleset;
pub use progress::Progress;
pub use qemu::host_cpu::host_cpus;
pub use qemu::recording_limits::RecordingLimits;
pub use qemu::{Feature, Qemu};
pub use run::measure::{MeasuredKernel, measure_elapsed, measure_plan, share_snapshot};
pub use run::outcome::{PathOutcome, PathStatus};
pub use run::record::{Recorded, cached_symbols, record, symbols};
pub use run::request::{Kernel, Request};
pub use run::snapshot::Snapshot;
pub use run::user_program::{
    Accounting, MAX_KEPT, PerfMapFile, RanProgram, Unlike, Written, run_program,
};

/// What a guest in another interpreter is made of, and what is done with one.
pub mod elsewhere {
    pub use crate::console::Tail;
    pub use crate::deadline::Deadline;
    pub use crate::error::{GuestCause, Step};
    pub use crate::guest::{Bounds, Extra, Guest};
    pub use crate::machine::Origin;
    pub use crate::qemu::memory_file::memory_file;
    pub use crate::qemu::process::Process;
    pub use crate::qemu::query::{Answer, ask};
    pub use crate::run::measure::{boot_paths, boot_plan};
    pub use crate::run::user_program::boot_program;
    pub use crate::stream::read_available;
}
