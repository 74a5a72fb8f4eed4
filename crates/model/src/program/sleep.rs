//! The sleeps of a program: in which rows and regions its tasks slept, who woke them, and how long
//! they did not run after that.
//!
//! A task sleeps if the kernel switches away from it, and wakes it before it switches back. A sleep
//! is in the row of what the task is in the kernel for, and in each region that is open in it.

use pathmeter_trace::RowKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sleeps in one row or region of one process that one waker ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SleepResult {
    /// The kind of row, or `region`.
    pub kind: RowKind,
    /// The name of the row or region.
    pub slept_in: String,
    /// The process whose tasks slept, as `processes` names it; not there if it had only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    pub woken_by: WokenBy,
    /// How often tasks slept, in each run.
    pub sleeps: Vec<u64>,
    /// Steps of the guest's clock from the wake-ups until the tasks ran, in each run: those of
    /// whatever was executed meanwhile.
    pub steps_to_run: Vec<u64>,
    /// Steps of the clock in which the CPU idled while they slept, in each run; of tasks that sleep
    /// at the same time each has them. Null where QEMU does not tell how long the CPU idled.
    pub idle: Vec<Option<u64>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct WokenBy {
    /// The process whose task did, as `processes` names it. Not there if it was none of the
    /// program's, as of an interrupt, or if the program had only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The row of the work that did.
    pub work: String,
}

impl SleepResult {
    /// In the later runs, or in the only one: how often, steps to run, and idle ones, run by run.
    pub fn sampled(&self) -> impl Iterator<Item = (u64, u64, Option<u64>)> {
        let first = usize::from(self.sleeps.len() > 1);
        let numbers = self.sleeps.iter().zip(&self.steps_to_run).zip(&self.idle);
        numbers.map(|((sleeps, steps), idle)| (*sleeps, *steps, *idle)).skip(first)
    }
}
