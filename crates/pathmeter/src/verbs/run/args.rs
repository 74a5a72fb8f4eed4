//! The arguments that are about programs of the user's: `run`, and probes.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{
    NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};
use clap::{Args, ValueHint};

use crate::arguments::{
    DocumentArgs, EditedArg, FormatArgs, GateArgs, GuestArgs, PackingArgs, ResultsArg, RowArgs,
    SumArg, percent,
};
use crate::arguments::{Words, words};
use pathmeter_gate::{EventGate, USUAL};
use pathmeter_measure::benchmark::framework::{FRAMEWORKS, Framework, MOST_ITERATIONS};
use pathmeter_measure::program::point_windows::ProgramWindow;
use pathmeter_measure::program::slope::ProgramSlope;

const EXAMPLES: &str = "\
The program is executed unmodified, in a guest that has its files and nothing else of this \
machine: each time in the same state, with a fixed date and seeded random numbers. Every \
instruction is in one row: the program's own code, each system call, page faults, interrupts, \
kernel threads. The rows add up to the guest's clock, or there is no result.

Examples:
  pathmeter run bzImage -- ls -R /
  pathmeter run old.deb new.deb -- sqlite3 :memory: 'select 1'
  pathmeter run bzImage --file /usr/lib/python3.11 -- python3 -c pass
  pathmeter run bzImage --window wake=try_to_wake_up..finish_task_switch -- ./threads
  pathmeter run old.deb new.deb --only-process redis-server -- sh redis.sh
  pathmeter run redis.json --only-process 'redis-server:*'      all threads of a process, added up
  pathmeter run bzImage --against './old/sort words' --check -- ./new/sort words
                                        two versions of a program on one kernel
  pathmeter run base.json bzImage --check --budget rows.toml -- cat /etc/hosts
  pathmeter run old.deb new.deb --results results -- ls -R /
                                        from a plan's results, if they are there
  pathmeter run base.json bzImage --benchmarks criterion --check -- target/release/deps/mine-HASH
                                        each benchmark in a program, by itself
  pathmeter run bzImage --slope N=100,200,400,800 -- ./loop N
                                        what one more of N costs, and where that bends
  pathmeter run bzImage --root ./container -- /bin/sh -c 'sort < /etc/passwd'
  pathmeter run bzImage --file /bin/ls --file /usr/bin/wc -- sh -c 'ls -R / | wc -l'
                                        a pipe: what sh -c names is packed with --file
  pathmeter run --new-probe my-ioctl                  a program to begin one of yours from, then
  make -C my-ioctl run KERNEL=bzImage
  make -C my-ioctl compare KERNEL=old/bzImage NEW=new/bzImage";

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("results", |arg| arg.conflicts_with_all([
        "explain", "lines", "returns", "region_function", "window", "benchmarks", "slope"
    ]))
)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct RunArgs {
    /// The kernel, or an earlier result of this program; what NEW is compared against
    #[arg(value_name = "KERNEL", value_hint = ValueHint::FilePath)]
    pub(crate) base: PathBuf,
    /// Another kernel, or a result, to be compared
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) new: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) packing: PackingArgs,
    /// Compare PROGRAM with this one on one kernel: BASE is this program, with its arguments, and
    /// NEW is PROGRAM; words as in a shell, without variables and patterns
    #[arg(
        long, value_name = "COMMAND", value_parser = words, conflicts_with = "find_files",
        value_hint = ValueHint::CommandString
    )]
    pub(crate) against: Option<Words>,
    /// Measure each benchmark in PROGRAM by itself: the kernel's part of an iteration, and the
    /// program's own code (docs/guide/benchmarks.md)
    ///
    /// FRAMEWORK is what PROGRAM's benchmarks are written for. It lists them and executes each by
    /// name, in guests of its own.
    #[arg(
        long, value_name = "FRAMEWORK", value_parser = framework(), conflicts_with = "find_files"
    )]
    pub(crate) benchmarks: Option<Framework>,
    /// Measure only these benchmarks: names or patterns, such as `read/*`; repeated
    #[arg(
        long, value_name = "NAME", requires = "benchmarks",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub(crate) only_benchmark: Vec<String>,
    /// Derive the cost of an iteration from N of them; by default 8, or 128 with Go
    #[arg(
        long, value_name = "N", requires = "benchmarks",
        value_parser = clap::value_parser!(u64).range(1..=MOST_ITERATIONS)
    )]
    pub(crate) iterations: Option<u64>,
    /// Measure functions of the program as regions: names or patterns of its symbol table, such as
    /// `*wrapper*`; repeated
    #[arg(long, value_name = "SYMBOL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) region_function: Vec<String>,
    /// Measure what the kernel executes between two points while the program runs; repeated
    ///
    /// Written as for `measure`, such as `wake=try_to_wake_up..finish_task_switch` or
    /// `read=ksys_read..ksys_read:return`. One more condition, `inside=REGION`, counts only windows
    /// that begin while that region of the program is open (docs/guide/own-programs.md).
    #[arg(long, value_name = "NAME=FROM..TO", value_parser = ProgramWindow::parse)]
    pub(crate) window: Vec<ProgramWindow>,
    /// Put each of these numbers in place of the word N among PROGRAM's arguments: measure what one
    /// more costs in each row and region, and where that bends (docs/guide/own-programs.md)
    ///
    /// N is any word. It is a whole argument, or has braces inside one, as in --count={N}. The
    /// numbers ascend, and stand there as they are written. The document is
    /// pathmeter.program-slope/1.
    #[arg(
        long, value_name = "N=NUMBERS", value_parser = ProgramSlope::parse,
        conflicts_with_all = [
            "new", "against", "benchmarks", "explain", "by_area", "lines", "returns", "check",
            "budget", "bisect", "threshold", "across", "format", "write"
        ]
    )]
    pub(crate) slope: Option<ProgramSlope>,
    /// The exit code that the program must end with; with any other there is no measurement
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) exit_code: u8,
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    /// Show and judge the rows of one of the program's processes or threads: its place in the tree
    /// of processes, such as `sh/redis-server`, or `sh/redis-server:2` of its second thread; the
    /// name of its program; or a pattern, such as `redis-server:*`; several are added up
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) only_process: Option<String>,
    /// Count each function of the kernel as well; for two kernels, show those in which rows differ
    #[arg(long)]
    pub(crate) explain: bool,
    /// Whether causes are also summed up.
    #[command(flatten)]
    pub(crate) sums: SumArg,
    /// Also count the lines of data (64 bytes each) that the kernel touches; takes longer
    #[arg(long)]
    pub(crate) lines: bool,
    /// Also count the returns that a processor mispredicts, as some mitigations make it do; takes
    /// longer
    #[arg(long)]
    pub(crate) returns: bool,
    /// Exit with 1 if NEW costs more: in a region of the program's, or in its own work (its code,
    /// system calls and faults); with =regions only in its regions [default events:
    /// instructions,string-bytes,slow,data-lines:8]
    ///
    /// =EVENTS chooses what fails, as for `compare` (docs/guide/gates.md).
    #[arg(
        long, value_name = "EVENTS", num_args = 0..=1, require_equals = true,
        default_missing_value = USUAL
    )]
    pub(crate) check: Option<Checked>,
    /// Treat changes of less than PERCENT of a row, region or window as same
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub(crate) threshold: f64,
    /// Compare even if more than the kernel differs; the differences are listed
    #[arg(long)]
    pub(crate) across: bool,
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

/// The frameworks by their words.
fn framework() -> impl TypedValueParser<Value = Framework> {
    let values = FRAMEWORKS.iter().map(|it| PossibleValue::new(it.word).help(it.about));
    PossibleValuesParser::new(values)
        .try_map(|word| Framework::from_word(&word).ok_or("it is no framework here"))
}

/// What `run --check` looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    /// Whether only regions and windows are judged, and not the program's own work.
    pub(crate) regions_only: bool,
    pub(crate) events: EventGate,
}

impl FromStr for Checked {
    type Err = String;

    /// `regions`, or events of all rows.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "regions" => Ok(Self { regions_only: true, events: EventGate::usual() }),
            events => Ok(Self { regions_only: false, events: events.parse()? }),
        }
    }
}
