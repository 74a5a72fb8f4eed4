//! Exact runs: boots a kernel image in QEMU's interpreter under an instruction-counting clock, has
//! the agent run every path, and hands back every sample. And runs in elapsed time
//! ([`measure_elapsed`]), which differ in the clock, need no snapshot and run paths of their own.
//!
//! The shape of a run ([`measure`]):
//!
//! 1. boot the kernel with the agent as /init, until the agent says READY and pauses the guest;
//! 2. save the paused guest as a snapshot, keep it in the cache;
//! 3. restore the snapshot, resume, collect what the agent sends until it says DONE;
//! 4. should the kernel die in a path, leave that path out and start over.
//!
//! Contract: the guest is hostile. All that comes from it is bounded in size and checked
//! ([`pathmeter_wire`]); QEMU runs in its seccomp sandbox, without network, disk or display, talks
//! over inherited descriptors only, and is killed on every way out. Only this crate knows QEMU's
//! flags.

mod agent_run;
mod alarm;
mod arch_capabilities;
mod bochs;
mod cache;
mod claim;
mod condition;
mod console;
mod counter;
mod cpu;
mod deadline;
mod entry;
mod error;
mod facts;
#[cfg(test)]
mod fake;
mod gdb;
mod guest;
mod host_cpu;
mod initramfs;
mod machine;
mod measure;
mod memory_file;
mod outcome;
mod plugin;
mod process;
mod program;
mod progress;
mod proof;
mod qemu;
mod qemu_error;
mod qemu_guest;
mod qemu_panic;
mod qmp;
mod query;
mod record;
mod recording_limits;
mod request;
mod snapshot;
mod stream;
mod witness;

pub use bochs::{
    Bochs, Landmarks, Look, MOST_ENTRIES, Stop, StopPlace, TracedWindow, Unplaceable, WITNESS_CPU,
};
pub use cache::{Cache, CacheError, Slot, Sought};
pub use claim::Caller;
pub use condition::{
    Condition, ConditionError, Filter, Setting, Unmet, UnmetCause, WITHOUT_MEANING,
};
pub use cpu::{
    CPU_SCHEMA, Cpu, CpuFile, CpuFileError, CpuidRegister, FEATURES, FeatureWord, KnownStates,
    Lack, Looked, NAMES, PROFILES, Priced, Profile, Sourced, ValueFrom,
};
pub use entry::{Entry, EntryKind, Key};
pub use error::VmError;
pub use facts::Facts;
pub use host_cpu::host_cpus;
pub use initramfs::{AGENT, Initramfs, Job, PROGRAM_AGENT};
pub use machine::{BaseWords, Clock, FIRMWARE, Firmware, Settings};
pub use measure::{MeasuredKernel, measure, measure_elapsed, measure_plan};
pub use outcome::{PathOutcome, PathStatus};
pub use pathmeter_wire::condition::FilterFlags;
pub use pathmeter_wire::plan::{Execution, Plan};
pub use pathmeter_wire::program::{ProgramEnd, ProgramEnded};
pub use process::Interrupt;
pub use program::{
    Accounting, MAX_KEPT, RanProgram, Unlike, Written, run_program, witness_program,
};
pub use progress::Progress;
pub use proof::{Proof, ProofState};
pub use qemu::{Feature, Qemu};
pub use qemu_error::{AskError, LACKS_HELP, QemuError};
pub use record::{Recorded, cached_symbols, record, symbols};
pub use recording_limits::RecordingLimits;
pub use request::{Kernel, Request};
pub use witness::{witness, witness_plan, witness_traced};
