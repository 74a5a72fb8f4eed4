//! What stands beside results: failures, findings, and which node wrote what.

use pathmeter_seal::schema_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::plain;

/// Whether another try can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FailureClass {
    /// It can't: the same would come out.
    Permanent,
    /// It can: something of the machine was in the way.
    Transient,
}

schema_name!(pub FailureSchema = "pathmeter.plan-failure/1");

/// Why a try to measure a cell gave no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureRecord {
    pub schema: FailureSchema,
    pub cell: String,
    pub node: String,
    /// Which try of the cell it was, from 1, as far as the folder tells.
    #[serde(rename = "try")]
    pub number: u32,
    /// Whether another try can help.
    pub class: FailureClass,
    /// The exit code that stands for the class.
    pub exit: u8,
    /// When, in seconds since 1970.
    pub at: u64,
    /// The end of what was said.
    pub messages: Vec<String>,
}

schema_name!(pub FindingSchema = "pathmeter.plan-finding/1");

/// Two results of one cell that are not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    pub schema: FindingSchema,
    pub cell: String,
    /// The result that was there first.
    pub first: FoundResult,
    pub other: FoundResult,
    /// The first sample in which they differ, or the first other thing.
    pub difference: String,
}

/// One of two results that should be the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FoundResult {
    /// Its file in the folder.
    pub file: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// The machines that are known to have measured it, in order; empty if none is.
    pub nodes: Vec<String>,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nodes = |of: &FoundResult| match &of.nodes[..] {
            [] => "an unknown node".to_owned(),
            nodes => nodes.join(", "),
        };
        write!(
            f,
            "cell {}: {} (of {}) and {} (of {}) differ: {}",
            self.cell,
            self.first.file,
            nodes(&self.first),
            self.other.file,
            nodes(&self.other),
            self.difference
        )
    }
}

/// A line of the lists that tell which node wrote what. It is written before the result is, so
/// there may be one of a result that was lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Written {
    pub(crate) cell: String,
    pub(crate) sha256: String,
    pub(crate) node: String,
}

/// The name of this machine among those of an engine: Slurm's, which several daemons on one machine
/// tell apart, or the host's.
pub fn node_name(variable: impl Fn(&str) -> Option<String>, host: &str) -> String {
    plain(&variable("SLURMD_NODENAME").unwrap_or_else(|| host.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slurms_name_of_a_node_goes_before_the_hosts() {
        let slurm = |name: &str| (name == "SLURMD_NODENAME").then(|| "n2".to_owned());
        assert_eq!(node_name(slurm, "host.example"), "n2");
        assert_eq!(node_name(|_| None, "host.example"), "host_example");
    }
}
