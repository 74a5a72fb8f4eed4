//! `pathmeter.times/1`: times of paths on the host that pathmeter ran on, batch by batch.
//!
//! Everything that was taken is kept, in ticks of the time stamp counter; levels, intervals and
//! verdicts are derived ([`crate::TimeComparison`]). A tick is not a cycle of the core: the counter
//! runs at one rate, whatever the core's.

use std::collections::BTreeMap;

use pathmeter_seal::schema_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Status;

schema_name!(pub TimesSchema = "pathmeter.times/1");

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Times {
    pub schema: TimesSchema,
    /// The machine and its kernel.
    pub host: Host,
    pub method: TimeMethod,
    /// The conditions that were compared: one, or base's and new's.
    pub conditions: Vec<String>,
    /// One entry a path, in the catalogue's order.
    pub paths: Vec<PathTimes>,
    /// What a reader must know to judge the times.
    pub notes: Vec<String>,
}

/// A machine, its processor and its kernel. What could not be read is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The processor's name, family, model and stepping.
    pub processor: String,
    pub microcode: String,
    /// The hypervisor's name, or `unknown`, if the machine says that it is virtual.
    pub hypervisor: Option<String>,
    /// The kernel's release, as `uname -r` prints it.
    pub release: String,
    /// The kernel's release and version.
    pub kernel: String,
    /// The kernel's build id, in hexadecimal.
    pub build_id: String,
    pub command_line: String,
    /// When this kernel booted, as an identification of the boot.
    pub boot_id: String,
    /// What the kernel says of each vulnerability, on which its code depends.
    pub vulnerabilities: BTreeMap<String, String>,
    /// The clock source of the kernel.
    pub clock_source: String,
    /// How the kernel chooses the CPU's frequency.
    pub governor: String,
    /// The CPUs that are online.
    pub cpus: String,
    /// The CPUs that share the core of the measured one, itself included.
    pub siblings: String,
    /// Who may read the processor's counters.
    pub rdpmc: String,
    /// The CPU that the paths are executed on.
    pub cpu: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeMethod {
    /// Ticks of the time stamp counter in a second, by the kernel's clock.
    pub ticks_per_second: u64,
    /// The least difference of two readings of the counter, in ticks.
    pub step: u64,
    /// Ticks of a batch without calls: the two readings themselves.
    pub stamps: u64,
    /// What the order of sides and paths was drawn from.
    pub seed: u64,
    /// The fewest replicates that were asked for: processes. More follow while intervals are wide.
    pub replicates: u32,
    /// Batches of each side in a replicate.
    pub batches: u32,
    /// Whether real-time tasks were permitted.
    pub real_time: bool,
    /// Whether the paths had namespaces and a root file system of their own.
    pub apart: bool,
    /// Whether they were in the root cgroup.
    pub root_cgroup: bool,
    /// When it began, in seconds since 1970 by the machine's clock.
    pub began: u64,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
}

/// What came of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathTimes {
    pub path: String,
    /// Whether it ran and was proved.
    pub status: Status,
    /// Why there are no times; null if it is ok.
    pub reason: Option<String>,
    pub calls: u64,
    /// Executions of the path in each call.
    pub repeats: u32,
    pub replicates: Vec<Replicate>,
    /// Calls by themselves; null where a call is shorter than 20 steps of the clock.
    pub single: Option<SingleCalls>,
}

/// One replicate: the sides executed within milliseconds of each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replicate {
    /// Microseconds from the session's begin.
    pub at: u64,
    /// Ticks of each batch: of base, of base's copy, and of new if there are two conditions. Of one
    /// condition base and copy alternate in one process; of two each side has one of its own.
    pub sides: Vec<Vec<u64>>,
}

/// Calls that were timed one by one, with the time of the clock's reading in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleCalls {
    pub calls: u32,
    /// Half of them took no more ticks.
    pub p50: u64,
    /// The same of 99 in a hundred.
    pub p99: u64,
    /// The same of 999 in a thousand.
    pub p999: u64,
    pub longest: u64,
}

impl Times {
    /// The path of this name.
    pub fn path(&self, name: &str) -> Option<&PathTimes> {
        self.paths.iter().find(|path| path.path == name)
    }

    /// Nanoseconds of so many ticks.
    pub fn nanoseconds(&self, ticks: f64) -> f64 {
        ticks * 1e9 / float(self.method.ticks_per_second)
    }
}

/// A count as a number that can be divided.
pub fn float(count: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "2^53 ticks are weeks")]
    let float = count as f64;
    float
}
