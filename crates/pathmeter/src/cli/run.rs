//! The arguments that are about programs of the user's: `run`, and probes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{
    NonEmptyStringValueParser, OsStringValueParser, PossibleValue, PossibleValuesParser,
    TypedValueParser,
};
use clap::{Args, ValueHint};
use pathmeter_pack::{FileArg, Packing};
use pathmeter_trace::PointWindow;

use super::variable::variable;
use super::words::{Words, words};
use super::{
    DocumentArgs, EditedArg, FormatArgs, GateArgs, GuestArgs, ResultsArg, RowArgs, SumArg, percent,
};
use pathmeter_gate::{EventGate, USUAL};
use pathmeter_measure::benchmark::framework::{FRAMEWORKS, Framework, MOST_ITERATIONS};
use pathmeter_measure::path::additions::Additions;
use pathmeter_measure::program::point_windows::ProgramWindow;
use pathmeter_measure::program::slope::ProgramSlope;

const RUN_EXAMPLES: &str = "\
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

/// A program of the user's, and what is packed with it.
#[derive(Debug, Args)]
pub(crate) struct PackingArgs {
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
    /// What is packed with it.
    #[command(flatten)]
    pub(crate) files: FilesArgs,
}

/// What is packed with a program.
#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// Pack this folder as the guest's root, and take the program from it
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) root: Option<PathBuf>,
    /// Pack a file or folder as well; repeated
    ///
    /// DESTINATION is its place in the guest. By default it is the same as here.
    #[arg(
        long, value_name = "SOURCE[:DESTINATION]",
        value_parser = OsStringValueParser::new().map(|word| FileArg::parse(&word))
    )]
    pub(crate) file: Vec<FileArg>,
    /// Pack the files whose names are in LIST; if there is no LIST, execute PROGRAM once on this
    /// machine, before any guest, and write the names of all files that it opens to LIST
    ///
    /// The program does here what it does anywhere, as you. It starts in an empty folder, with the
    /// guest's environment, and may take a minute. Remove LIST to look again.
    #[arg(
        long, value_name = "LIST", value_hint = ValueHint::FilePath, conflicts_with = "root"
    )]
    pub(crate) find_files: Option<PathBuf>,
    /// Set a variable of the program's environment; repeated
    #[arg(
        long, value_name = "NAME=VALUE",
        value_parser = OsStringValueParser::new().try_map(variable)
    )]
    pub(crate) env: Vec<(OsString, OsString)>,
    /// The file that the program reads as its standard input, or - for pathmeter's own; by default
    /// none
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) stdin: Option<PathBuf>,
}

impl PackingArgs {
    /// The program and its arguments, and what is packed with it.
    pub(crate) fn words(&self) -> (&[OsString], &FilesArgs) {
        (&self.command, &self.files)
    }
}

impl FilesArgs {
    /// Whether the program reads this command's own standard input, which is there only once.
    pub(crate) fn reads_own_input(&self) -> bool {
        self.stdin.as_deref().is_some_and(|stdin| stdin == std::path::Path::new("-"))
    }

    /// What is to be packed for a program and its arguments.
    pub(crate) fn packing<'a>(&'a self, command: &'a [OsString]) -> Packing<'a> {
        Packing {
            command,
            root: self.root.as_deref(),
            files: &self.file,
            env: &self.env,
            stdin: self.stdin.as_deref(),
        }
    }
}

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(
    after_help = RUN_EXAMPLES,
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
    /// What is executed.
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
    /// Which rows are shown.
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
    /// Where the document goes.
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Whether documents are taken that were edited.
    #[command(flatten)]
    pub(crate) edited: EditedArg,
    /// What a gate is held to.
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    /// Formats for other programs.
    #[command(flatten)]
    pub(crate) formats: FormatArgs,
    /// How guests run.
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

/// What else is measured than the built-in paths: programs of the user's, and windows between two
/// points of the kernel.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// The windows.
    #[command(flatten)]
    pub(crate) windows: WindowArgs,
    /// Measure the regions of a program too, as paths user.NAME; repeated
    /// (docs/guide/own-programs.md)
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::FilePath)]
    pub(crate) probe: Vec<PathBuf>,
}

/// Windows between two points of the kernel.
#[derive(Debug, Args)]
#[allow(clippy::doc_markdown, reason = "help is plain text")]
pub(crate) struct WindowArgs {
    /// Measure what the kernel executes between two points too, as paths PATH/NAME; repeated
    ///
    /// Written NAME=FROM..TO, such as wake=try_to_wake_up..finish_task_switch. A point is FUNCTION,
    /// FUNCTION:return, FUNCTION+0xOFFSET, 0xADDRESS, or `user`, the next instruction of a program;
    /// @CALLER after it says from which function control must come. Conditions follow after commas:
    /// same-task, latest, nth=N, from=user, call, kernel or idle (docs/reference/waits.md).
    #[arg(long, value_name = "NAME=FROM..TO", value_parser = PointWindow::parse)]
    pub(crate) window: Vec<PointWindow>,
}

impl ProbeArgs {
    /// The windows and the programs, as what is measured beside the paths.
    pub(crate) fn to_beside(&self) -> Additions<'_> {
        Additions { windows: &self.windows.window, programs: &self.probe }
    }

    /// Whether anything is to be measured beside the paths.
    pub(crate) fn has_any(&self) -> bool {
        !self.windows.window.is_empty() || !self.probe.is_empty()
    }
}
