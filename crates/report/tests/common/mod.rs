//! What the tests of several tables use.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use pathmeter_model::{Configuration, example};

/// How something was measured in so many runs, on a kernel of this release.
pub(crate) fn configuration(release: &str, runs: usize) -> Configuration {
    Configuration {
        command_line: pathmeter_report::USUAL_COMMAND_LINE.into(),
        cpu: "max,-rdrand,-rdseed".into(),
        memory_mib: 256,
        ..example::configuration(release, u32::try_from(runs).unwrap())
    }
}
