//! The arguments of `compare`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use pathmeter_gate::{BUDGET_EXAMPLE, EventGate, USUAL};

use crate::arguments::{
    DocumentArgs, EditedArg, FormatArgs, GateArgs, GuestArgs, ProbeArgs, ResultsArg, RowArgs,
    SumArg, VmlinuxArgs, percent,
};

const EXAMPLES: &str = "\
Examples:
  pathmeter compare old/bzImage new/bzImage
  pathmeter compare base.json bzImage --check         exit code 1 if a path became more expensive
  pathmeter compare base.json bzImage --check=instructions --threshold 1
                                                      only if it needs 1 % more instructions
  pathmeter compare base.json bzImage --check --budget budget.toml --write junit=junit.xml
  pathmeter compare old new --explain --format markdown >> $GITHUB_STEP_SUMMARY
  git bisect run sh -c 'make -j8 bzImage || exit 125
      pathmeter compare base.json . --check --bisect --only switch.yield'
  pathmeter compare old.deb new.deb --only syscall.getppid,'ioctl.*' --json
  pathmeter compare a.json b.json --across            results of two versions of QEMU
  pathmeter compare old new --only 'file.*' --explain  and which functions changed them
  pathmeter compare old.deb new.deb --results results  from a plan's results, if they are there
  pathmeter compare old-results new-results           all results of two plans, cell by cell
  pathmeter compare bzImage --cpu skylake --cpu icelake   one kernel on two CPUs
  pathmeter compare bzImage --under default --under boot:mitigations=off
                                                      and under two conditions
  pathmeter compare old.deb new.deb --times old.times.json --times new.times.json
                                                      counts and times, and what both mean

Verdicts:
  same           the exact values of both kernels overlap, or differ by less than --threshold
  events-differ  the same number of instructions, but the count of another event differs
  higher, lower  all values shifted: new costs more, or less
  mode-appeared  new often shows a value that base never showed
  longer-tail    of a wait: new has values far beyond all of base's, in two runs or more
  shorter-tail   of a wait: base has such values, and nothing else in new costs more
  unsupported    one of the kernels, or the CPU model, can't run the path
  broken         a path ran wrongly, or the kernel died on it

A comparison is refused (exit code 2) if BASE and NEW differ in more than the kernel or, for one
kernel, the condition, as in the version of QEMU, the CPU model or the number of runs; --across
compares them all the same.

With --check, the exit code is 3 if something was not compared: a path that BASE
could run and NEW can't or lacks, a path that --only names in full and one side can't run or lacks,
or all paths. A path that only NEW can run gives a note.

A budget, the FILE of --budget:
";

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES.to_owned() + BUDGET_EXAMPLE,
    mut_arg("results", |arg| arg.conflicts_with("window"))
)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct CompareArgs {
    /// What to compare against: a kernel image, a result file, lab[:mechanism=variant,…], or a
    /// folder of a plan's results, which is compared with another one cell by cell
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) base: PathBuf,
    /// What to judge, in the same forms as BASE. Omit it if --cpu or --under is given twice, which
    /// compares BASE with itself
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) new: Option<PathBuf>,
    /// Show the causes of the differences: the functions that changed, over all paths
    ///
    /// The JSON document is then pathmeter.explained-comparison/1: `comparison`, with its `causes`,
    /// and `explanations`.
    #[arg(long)]
    pub(crate) explain: bool,
    /// With --explain, show every path that changed, function by function
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) debug: VmlinuxArgs,
    /// Whether causes are also summed up.
    #[command(flatten)]
    pub(crate) sums: SumArg,
    /// Exit with 1 if NEW is worse in one of the paths shown, and with 3 if one that BASE could run
    /// was not compared [default events: instructions,string-bytes,slow,data-lines:8]
    ///
    /// EVENTS are what makes it worse, separated by commas: instructions, slow (all classes of slow
    /// instructions), all, or the names of events (docs/reference/events.md); with :N if a
    /// difference of up to N passes. A path that is broken is always worse.
    #[arg(
        long,
        value_name = "EVENTS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = USUAL
    )]
    pub(crate) check: Option<EventGate>,
    /// Show, for each path, how many functions have an entry that moved within its line of 64
    /// bytes; with --explain, also where these entries are
    #[arg(long)]
    pub(crate) placement: bool,
    /// Treat changes of less than PERCENT of BASE as same
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub(crate) threshold: f64,
    /// Compare even if more than the kernel differs, or if --times are of another kernel; the
    /// differences are listed
    #[arg(long)]
    pub(crate) across: bool,
    /// Join the counts with times of the same two sides: documents of `host -o`, base's and
    /// new's, or host for this machine under both conditions of --under (docs/guide/host.md)
    #[arg(
        long, value_name = "TIMES", num_args = 1, action = clap::ArgAction::Append,
        value_hint = ValueHint::FilePath, conflicts_with = "explain"
    )]
    pub(crate) times: Vec<PathBuf>,
    /// Probes of the user's own.
    #[command(flatten)]
    pub(crate) probes: ProbeArgs,
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Whether documents are taken that were edited.
    #[command(flatten)]
    pub(crate) edited: EditedArg,
    /// What a gate is held to.
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    #[command(flatten)]
    pub(crate) formats: FormatArgs,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
    /// Results that are there already.
    #[command(flatten)]
    pub(crate) results: ResultsArg,
}

impl CompareArgs {
    /// What is compared: two subjects, or one with itself.
    pub(crate) fn names(&self) -> Vec<&Path> {
        std::iter::once(&self.base).chain(&self.new).map(PathBuf::as_path).collect()
    }
}
