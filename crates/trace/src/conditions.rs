//! What a number was measured with: the little of a result's configuration without which nobody
//! should read one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What something was measured with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredWith {
    pub qemu: String,
    /// The guest's machine, as QEMU names it, with its options.
    pub machine: String,
    /// Its CPU: a profile's name with its features, or QEMU's text.
    pub cpu: String,
    pub cpus: u32,
    /// Whether CPU, machine and firmware are the fixed ones, with which every tested QEMU gives the
    /// same numbers.
    pub portable: bool,
    /// Its memory, in MiB.
    pub memory_mib: u32,
    /// Number of perturbed runs.
    pub runs: u32,
    /// The kernel's command line, without the words of the condition.
    pub command_line: String,
    /// The settings under which the kernel was measured; empty for the default.
    pub condition: String,
    /// What became of each of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<SettingProof>,
    /// The program that was run, with its arguments, as a shell would take it; null if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// What the guest's kernel shows of a setting. Texts are the kernel's, without control characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingProof {
    pub setting: String,
    pub state: SettingState,
    /// The file that shows it, and what that reads; or why nothing does.
    pub shown: String,
}

/// Whether a setting took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingState {
    /// The kernel shows that it did.
    Proved,
    /// Nothing shows whether it did.
    Unproved,
    /// The kernel shows that the setting makes no difference on this CPU.
    Moot,
}
