//! How times are taken on the machine that pathmeter runs on.

use std::time::Duration;

use clap::Args;
use pathmeter_model::MOST_REPLICATES;

/// Replicates without `--replicates`: with so many one disturbed replicate does not hide what all
/// others show, in a table of as many paths as there are
/// (`pathmeter_stats::time::Rules::robust_pairs`).
const REPLICATES: u32 = 30;
/// Seconds without `--limit`, of one condition and of two.
const LIMITS: [u64; 2] = [20, 180];

/// How times are taken, of the subject `host`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Times on this machine (the subject host)")]
pub(crate) struct HostArgs {
    /// The CPU to execute on; by default the last one that this process may use
    #[arg(long, value_name = "CPU")]
    pub(crate) pin: Option<u32>,
    /// The fewest replicates of each path, each with another environment and order of
    /// batches; more follow while an interval is wider than 2 % or the margin of equal
    #[arg(
        long, value_name = "N", default_value_t = REPLICATES,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_REPLICATES))
    )]
    pub(crate) replicates: u32,
    /// Start no new round of processes after SECONDS; by default 20, and 180 for a
    /// comparison
    #[arg(
        long, value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    pub(crate) limit: Option<u64>,
    /// Seed for the order of paths, sides and batches; a new one each time by default
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
}

impl Default for HostArgs {
    fn default() -> Self {
        Self { pin: None, replicates: REPLICATES, limit: None, seed: None }
    }
}

impl HostArgs {
    /// After which time no further round is begun, of so many conditions.
    pub(crate) fn limit(&self, conditions: usize) -> Duration {
        Duration::from_secs(self.limit.unwrap_or(LIMITS[usize::from(conditions > 1)]))
    }
}
