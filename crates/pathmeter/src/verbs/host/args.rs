//! The command line of `host`: times of paths on the machine that pathmeter runs on.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueHint};
use pathmeter_measure::condition::under::Under;
use pathmeter_model::MOST_REPLICATES;

use crate::arguments::of_page;
use crate::arguments::{DocumentArgs, EditedArg, FormatArgs, RowArgs, percent};

const EXAMPLES: &str = "\
Every number of these verbs is a time on this machine, as it is now, in nanoseconds. No root is \
needed.

Examples:
  pathmeter host                                      what do the paths take here?
  pathmeter host --only 'insn.*' -o host.json         what do instructions take here?
  pathmeter host host.json                            the table of an earlier session
  pathmeter host --boots this-kernel.json             one more boot, for comparing two kernels
  pathmeter host compare --under default --under seccomp:docker
                                                      what does a container's filter cost here?
  pathmeter host experiment vgetcpu-2007              a thread's program on this machine
  pathmeter host doctor                               what disturbs times here?";

const COMPARE_EXAMPLES: &str = "\
Examples:
  pathmeter host compare --under default --under seccomp:docker
  pathmeter host compare before.json                  an earlier session, and this machine now
  pathmeter host compare old.boots.json new.boots.json   several boots of each of two kernels
  pathmeter host compare                              this machine with itself: the method's errors

Verdicts:
  slower, faster  new takes more, or less, time; the probability that any row says
                  so wrongly is at most 0.001
  equal           the two differ by less than --threshold, 2 % by default
  undecidable     the session can't tell; the row says why, and which option would decide

Exit codes:
  0  done; with --check, no path is slower
  1  with --check, a path is slower
  3  with --check, no path has a verdict, or one lacks a verdict that --only names in full";

const EXPERIMENT_EXAMPLES: &str = "\
Examples:
  pathmeter host experiment vgetcpu-2007
  pathmeter host experiment                           all, one page each";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct HostArgs {
    /// Another question to this machine.
    #[command(subcommand)]
    pub(crate) verb: Option<HostVerb>,
    /// Without one, the times of its paths.
    #[command(flatten)]
    pub(crate) measure: HostMeasureArgs,
}

/// What else this machine is asked.
#[derive(Debug, Subcommand)]
pub(crate) enum HostVerb {
    /// Compare two conditions, or an earlier session with this machine, or two sessions
    Compare(HostCompareArgs),
    /// Take the times of a thread's program here, in its unit, beside its own results
    Experiment(HostExperimentArgs),
    /// Show what disturbs times on this machine, and what to do about it
    Doctor(HostDoctorArgs),
}

/// What is timed and how, if `host` has no verb of its own.
#[derive(Debug, Args)]
pub(crate) struct HostMeasureArgs {
    /// Show the times of this document instead, which `host -o` or `host --boots` wrote
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) times: Option<PathBuf>,
    /// Add this boot's session to a file of several boots, which `host compare` takes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) boots: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Whether documents are taken that were edited.
    #[command(flatten)]
    pub(crate) edited: EditedArg,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct HostCompareArgs {
    /// A document of `host -o` or `host --boots` to compare against
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) base: Option<PathBuf>,
    /// Another one, to judge; without it this machine is measured
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) new: Option<PathBuf>,
    /// Exit with 1 if a path is slower, and with 3 if none has a verdict, or one lacks a verdict
    /// that --only names in full
    #[arg(long)]
    pub(crate) check: bool,
    /// Treat changes of less than PERCENT as equal; by default 2
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub(crate) threshold: f64,
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Whether documents are taken that were edited.
    #[command(flatten)]
    pub(crate) edited: EditedArg,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = EXPERIMENT_EXAMPLES, mut_arg("format", of_page), mut_arg("write", of_page)
)]
pub(crate) struct HostExperimentArgs {
    /// The experiment; by default all, one after the other
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    #[command(flatten)]
    pub(crate) formats: FormatArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HostDoctorArgs {
    /// Print JSON (pathmeter.host-doctor/1) instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Replicates without `--replicates`: with so many one disturbed replicate does not hide what all
/// others show, in a table of as many paths as there are
/// (`pathmeter_stats::time::Rules::robust_pairs`).
const REPLICATES: u32 = 30;
/// Seconds without `--limit`, of one condition and of two.
const LIMITS: [u64; 2] = [20, 180];

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Sessions")]
pub(crate) struct SessionArgs {
    /// The condition of the processes that are measured: settings, separated by spaces, or
    /// `default`; `host compare` takes two
    ///
    /// There are seccomp:, landlock:N, cgroup:, bpf:TYPE:PLACE, ioports:N for the I/O ports below
    /// N, and perf:GROUP:EVENT (docs/guide/host.md).
    #[arg(long, value_name = "CONDITION", value_parser = Under::parse)]
    pub(crate) under: Vec<Under>,
    /// The CPU to execute on; by default the last one that this process may use
    #[arg(long, value_name = "CPU")]
    pub(crate) pin: Option<u32>,
    /// The fewest replicates of each path, each with another environment and order of batches; 30
    /// by default, and more follow while an interval is wider than 2 % or the margin of equal
    #[arg(
        long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_REPLICATES))
    )]
    replicates: Option<u32>,
    /// Start no new round of processes after SECONDS; by default 20, and 180 for a comparison
    #[arg(
        long, value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    limit: Option<u64>,
    /// Seed for the order of paths, sides and batches; a new one each time by default
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
}

impl SessionArgs {
    /// The defaults, under these conditions.
    pub(crate) fn under(under: Vec<Under>) -> Self {
        Self { under, ..Self::default() }
    }

    /// The fewest replicates of each path.
    pub(crate) fn replicates(&self) -> u32 {
        self.replicates.unwrap_or(REPLICATES)
    }

    /// After which time no further round is begun, of so many conditions.
    pub(crate) fn limit(&self, conditions: usize) -> Duration {
        Duration::from_secs(self.limit.unwrap_or(LIMITS[usize::from(conditions > 1)]))
    }

    /// The first of these options that the user gave.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let options = [
            ("--under", !self.under.is_empty()),
            ("--pin", self.pin.is_some()),
            ("--replicates", self.replicates.is_some()),
            ("--limit", self.limit.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}
