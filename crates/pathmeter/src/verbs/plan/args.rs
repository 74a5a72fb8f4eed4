//! The arguments of `plan`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueHint};
use pathmeter_plan::{Engine, ShardArg};

use crate::arguments::DocumentArgs;
use crate::arguments::TIMEOUT;

const EXAMPLES: &str = "\
A cell is one kernel on one CPU under one condition, with all paths or one program. Its result is \
the document that `measure` or `run` writes, and is the same on any machine. So the cells of a \
plan can be measured anywhere, in any order, and more than once.

FILE.toml:
  subjects = [\"kernels/*.deb\", \"lab:iobitmap=lazy\"]     kernels, patterns, the lab kernel
  cpus = [\"skylake\", \"zen3\"]                            optional, as --cpu
  under = [\"default\", \"boot:mitigations=off\"]           optional, as --under
  sets = [\"mitigations\"]                                optional, as --set of `settings`
  [[program]]                                           optional, in place of the paths
  command = [\"ls\", \"-R\", \"/\"]

Examples:
  pathmeter plan kernels.toml -o plan.json
  pathmeter plan run plan.json --results results --jobs 4
  pathmeter plan run plan.json --results results --shard 2/8   one of eight machines
  pathmeter plan status plan.json --results results
  pathmeter plan merge shard-*/ -o results
  pathmeter plan recheck plan.json --results results --sample 3
  pathmeter settings kernels/one.deb --results results  what was measured is taken from there
  pathmeter plan emit slurm plan.json --results results > plan.sh

docs/guide/plans.md has the form of the file, and what to do with each engine.

Exit codes of run, status and recheck:
  0    all is done
  1    two results of a cell differ: both are kept
  2    wrong usage
  3    a cell can't be measured, and another try would not help
  75   another try may help: a disk was full, memory ran out, something was killed or took too long
  130  interrupted; the cells that were being measured are left for another run";

const BUILD_EXAMPLES: &str = "\
FILE.toml:
  [[git]]
  tree = \"linux\"                     a git tree, which stays as it is
  range = \"v6.12..v6.13\"             commits, as `git log` takes them
  build = \"cp $PLAN_FOLDER/my.config .config && make -s olddefconfig && make -s -j8 bzImage\"
  image = \"arch/x86/boot/bzImage\"    what a build leaves; optional
  kernels = \"kernels\"                where kernels are kept; optional

Commits are checked out in a temporary clone ($TMPDIR), and built one after the other, each with \
what the one before left. A kernel that is there is not built again, and a commit whose build \
failed is not tried again until its .log in the folder of kernels is removed.

Examples:
  pathmeter plan build commits.toml
  pathmeter plan build commits.toml --shard 2/8
  pathmeter plan commits.toml -o plan.json             when all are built

Exit codes:
  0    every commit has a kernel, or failed before
  3    a build failed
  75   another try may help: a build took too long, or the disk was full";

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES, args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct PlanArgs {
    /// What to do with a plan.
    #[command(subcommand)]
    pub(crate) verb: Option<PlanVerb>,
    /// How a plan is made.
    #[command(flatten)]
    pub(crate) draft: DraftArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanVerb {
    /// Build the kernels of commits that have none yet: all, or those of a shard
    Build(PlanBuildArgs),
    /// Measure the cells that have no result yet: all, or those of a shard
    Run(PlanRunArgs),
    /// Tell which cells are done, failed and missing
    Status(PlanStatusArgs),
    /// Join folders of results into one
    Merge(MergeArgs),
    /// Measure some finished cells again, anew, and compare each bit
    Recheck(RecheckArgs),
    /// Print the file with which an engine runs the plan
    Emit(EmitArgs),
}

/// What a new plan has, if `plan` has no verb of its own.
#[derive(Debug, Args)]
pub(crate) struct DraftArgs {
    /// The file of wishes, in TOML
    #[arg(value_name = "FILE.toml", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Write the plan to FILE instead of stdout
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Fix the number of shards, so that no task has to name it
    #[arg(long, value_name = "N")]
    pub(crate) shards: Option<NonZeroU32>,
    /// The QEMU that is to measure; by default qemu-system-x86_64 on PATH
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) qemu: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = BUILD_EXAMPLES)]
pub(crate) struct PlanBuildArgs {
    /// The file of wishes, in TOML, with the git tree in a `[[git]]`
    #[arg(value_name = "FILE.toml", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Build only the commits of shard I of N, counted from 1
    ///
    /// Without it, or with /N, engines' variables are looked at as `plan run` does.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<ShardArg>,
    /// Give up on a build that takes longer, until the next try
    #[arg(
        long, value_name = "SECONDS", default_value_t = 7200,
        value_parser = clap::value_parser!(u64).range(1..=604_800)
    )]
    pub(crate) build_timeout: u64,
}

/// A plan, its results, and how its guests run.
#[derive(Debug, Args)]
pub(crate) struct RunnerArgs {
    /// The plan
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
    /// The folder of results, a file each; it may lie on a network
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) results: PathBuf,
    /// The QEMU to run, of the plan's version; by default qemu-system-x86_64 on PATH
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) qemu: Option<PathBuf>,
    /// Give up on a guest that takes longer to boot, for its condition, or for one perturbed run
    #[arg(
        long, value_name = "SECONDS", default_value_t = TIMEOUT,
        value_parser = clap::value_parser!(u64).range(1..=86400)
    )]
    pub(crate) timeout: u64,
    /// Give up on a cell whose guests take longer all together; by default on none
    ///
    /// The time counts from when kernel and program are on this machine. It depends on the machine,
    /// so another try may help: the exit code is 75.
    #[arg(
        long, value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=86400)
    )]
    pub(crate) limit: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct PlanRunArgs {
    #[command(flatten)]
    pub(crate) runner: RunnerArgs,
    /// Measure only the cells of shard I of N, counted from 1
    ///
    /// With /N the number comes from the engine's variable: `SLURM_ARRAY_TASK_ID`,
    /// `JOB_COMPLETION_INDEX` (Kubernetes) or `CI_NODE_INDEX` (GitLab), each by its own first
    /// number. Without --shard these are looked at too, and N is that of the plan, or the engine's
    /// own.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<ShardArg>,
    /// Measure only the cell with this id, or whose id begins so; repeated
    #[arg(long, value_name = "ID", conflicts_with = "shard")]
    pub(crate) cell: Vec<String>,
    /// Cells that are measured at a time
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    pub(crate) jobs: u16,
    /// Neither read nor write cached results and snapshots
    #[arg(long)]
    pub(crate) no_cache: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanStatusArgs {
    /// The plan
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
    /// The folder of results
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) results: PathBuf,
    /// Print only the ids of the cells that have no result, a line each
    #[arg(long, conflicts_with = "json")]
    pub(crate) missing: bool,
    /// Where the document goes, pathmeter.plan-status/1.
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders of results
    #[arg(required = true, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// The folder that all go to; it may have results already
    #[arg(long, short, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("which").required(true)))]
pub(crate) struct RecheckArgs {
    #[command(flatten)]
    pub(crate) runner: RunnerArgs,
    /// Measure K finished cells, chosen anew each time
    #[arg(long, value_name = "K", group = "which")]
    pub(crate) sample: Option<NonZeroU32>,
    /// Measure the finished cell with this id, or whose id begins so; repeated
    #[arg(long, value_name = "ID", group = "which")]
    pub(crate) cell: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct EmitArgs {
    /// What runs the shards
    #[arg(value_parser = PossibleValuesParser::new(Engine::ALL.map(|(word, _)| word)))]
    pub(crate) engine: String,
    /// The plan, as the tasks will name it
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
    /// The folder of results, as the tasks will name it
    #[arg(
        long, value_name = "FOLDER", default_value = "results", value_hint = ValueHint::DirPath
    )]
    pub(crate) results: PathBuf,
    /// About how many seconds a cell takes on one CPU; a shard is made to take some minutes
    #[arg(
        long, value_name = "SECONDS", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=86400)
    )]
    pub(crate) seconds: u32,
}
