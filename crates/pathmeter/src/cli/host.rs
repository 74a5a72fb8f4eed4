//! How times are taken on the machine that pathmeter runs on.

use clap::Args;

/// Replicates without `--replicates`: with so many one disturbed replicate does not hide what all
/// others show, in a table of as many paths as there are
/// (`pathmeter_stats::time::Rules::robust_pairs`).
const REPLICATES: u32 = 30;
/// Seconds without `--limit`.
const LIMIT: u64 = 180;

/// How times are taken, of the subject `host`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Times on this machine (the subject host)")]
pub(crate) struct HostArgs {
    /// The CPU to execute on; by default the last one that this process may use
    #[arg(long, value_name = "CPU")]
    pub(crate) pin: Option<u32>,
    /// Processes that execute each path, each with another environment and order of batches
    #[arg(
        long, value_name = "N", default_value_t = REPLICATES,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub(crate) replicates: u32,
    /// Begin no further replicate after so many seconds
    #[arg(
        long, value_name = "SECONDS", default_value_t = LIMIT,
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    pub(crate) limit: u64,
    /// What the order of paths, sides and batches is drawn from; by default another one each time
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
}

impl Default for HostArgs {
    fn default() -> Self {
        Self { pin: None, replicates: REPLICATES, limit: LIMIT, seed: None }
    }
}
