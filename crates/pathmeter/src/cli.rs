//! The command line, as data. Its comments are the help text that users read.

mod bisect;
mod cpu;
mod formats;
mod history;
mod own;
mod report;
mod settings;
mod symbols;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, ColorChoice, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use pathmeter_report::Placement;
use pathmeter_report::{Least, Limits};
use pathmeter_vm::{Condition, Cpu, NAMES, Settings};

pub(crate) use self::bisect::BisectArgs;
pub(crate) use self::cpu::{CaptureArgs, CpuArgs, CpuShowArgs, CpuVerb};
pub(crate) use self::formats::FormatArgs;
pub(crate) use self::history::{
    AddArgs, BlameArgs, DatabaseArg, ExportArgs, HistoryArgs, HistoryVerb, PlotArgs, PruneArgs,
    ShowArgs,
};
pub(crate) use self::own::{Checked, NewProbeArgs, PackingArgs, ProbeArgs, RunArgs, WindowArgs};
pub(crate) use self::report::ReportArgs;
pub(crate) use self::settings::SettingsArgs;
pub(crate) use self::symbols::SymbolsArgs;
use crate::destination::Named;
use crate::failure::Failure;
use crate::gated::{GatedEvents, USUAL};
use crate::image::Pair;
use crate::seccomp;

/// Perturbed runs without `--perturb`: enough for the sets of exact values to be stable for paths
/// that have several, and few enough for a kernel to take seconds.
const RUNS: u32 = 6;
/// Most perturbed runs: more samples than a result document may hold would follow.
const MOST_RUNS: i64 = 512;
/// Seconds for a boot, or for one run, after which a guest counts as hung.
const TIMEOUT: u64 = 120;

const ABOUT: &str = "\
Measures what each x86 kernel hot path costs, exactly, and compares two kernels to the instruction.

A kernel image boots in QEMU's interpreter, under a clock that counts instructions, with a small \
program as its init that runs each path and proves that it did. The same image gives the same \
numbers, bit for bit, on any machine: no root, no KVM and no quiet machine is needed. \
An instruction count is not a time.

A SUBJECT is a kernel image (bzImage, vmlinux, unified kernel image), a package that holds one \
(.deb, .rpm, .pkg.tar.zst, .apk), a folder in which a kernel was built, a result file that \
`measure -o` wrote, or `lab[:mechanism=variant,…]`: the bundled lab kernel. Its machine has one \
CPU, or two with the word cpus=2; vendor=intel makes it Intel's.";

const EXAMPLES: &str = "\
Examples:
  pathmeter doctor                                    can this machine measure?
  pathmeter compare old/bzImage new/bzImage           which paths changed, by how much?
  pathmeter compare base.json arch/x86/boot/bzImage --check
                                                      did my change make any path more expensive?
  pathmeter measure bzImage -o base.json              keep a result to compare against

Exit codes:
  0    done; with --check, and no path is worse
  1    --check found a path that is higher, shows a new mode, is broken, or is over its budget
  2    wrong usage, or a comparison that is refused
  3    a subject or one of its paths could not be measured, --check had a path to compare that it
       could not compare, or a file could not be read or written
  125  3, and
  128  2, as `git bisect run` wants them: with --bisect
  130  interrupted";

const MEASURE_EXAMPLES: &str = "\
Examples:
  pathmeter measure bzImage
  pathmeter measure linux-image-6.1.0-56-cloud-amd64_6.1.192-2_amd64.deb --only 'switch.*'
  pathmeter measure ~/linux                           the bzImage of a build folder
  pathmeter measure bzImage -o base.json              the table here, the result in a file
  pathmeter measure base.json                         the table of an earlier result
  pathmeter measure bzImage --json | jq '.paths[] | {path, estimate}'
  pathmeter measure bzImage --append mitigations=off  the same kernel, booted differently";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  pathmeter explain switch.yield bzImage              the call tree, to the instruction
  pathmeter explain file.stat old/bzImage new/bzImage which functions changed it
  pathmeter explain switch.yield+ioport-both bzImage --against switch.yield
                                                      what the I/O bitmaps cost
  pathmeter explain tcp.round-trip bzImage --svg tcp.svg --min 2%
  pathmeter explain switch.yield bzImage --vmlinux vmlinux   inlined functions too
  pathmeter explain syscall.getppid bzImage --json | jq .base.window.census";

const EXPERIMENT_EXAMPLES: &str = "\
Each experiment is a mailing-list thread on a hidden cost: its symptom, cause, cure and published \
results, and the same mechanism in its old and new forms, measured on the lab kernel.

Examples:
  pathmeter experiment --list
  pathmeter experiment ioperm-2004
  pathmeter experiment                                all, one page each
  pathmeter compare lab:iobitmap=full-copy lab:iobitmap=lazy   the same by hand, all paths
  pathmeter explain switch.yield lab                  the lab kernel's own switch

Exit codes: 0 if all results were as expected, 1 if not, 3 if a subject could not be measured.";

const WITNESS_EXAMPLES: &str = "\
Bochs shares no code with QEMU. On a CPU that both have, the same kernel executes the same \
instructions in both, or one of the two counts wrongly. Needs Debian's packages bochs and \
bochs-sdl, and takes about a minute a kernel.

Examples:
  pathmeter witness bzImage
  pathmeter witness old.deb new.deb lab
  pathmeter witness bzImage -- ls -R /                a program of yours

Exit codes: 0 if the two agree on every path that both can run, or in every run of the program, 1 \
if not, 3 if a kernel could not be run in one of them.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  pathmeter compare old/bzImage new/bzImage
  pathmeter compare base.json bzImage --check         exit code 1 if a path became more expensive
  pathmeter compare base.json bzImage --check --threshold 0.5
  pathmeter compare base.json bzImage --check --budget budget.toml --write junit=junit.xml
  pathmeter compare old new --explain --format markdown >> $GITHUB_STEP_SUMMARY
  git bisect run sh -c 'make -j8 bzImage || exit 125
      pathmeter compare base.json . --check --bisect --only switch.yield'
  pathmeter compare old.deb new.deb --only syscall.getppid,'ioctl.*' --json
  pathmeter compare a.json b.json --across            results of two versions of QEMU
  pathmeter compare old new --only 'file.*' --explain  and which functions changed them
  pathmeter compare bzImage --cpu skylake --cpu icelake   one kernel on two CPUs
  pathmeter compare bzImage --under default --under boot:mitigations=off
                                                      and under two conditions

Verdicts:
  same           the exact values of both kernels overlap, or differ by less than --threshold
  higher, lower  all values shifted: new costs more, or less
  mode-appeared  new shows a value, often, that base never did
  unsupported    one of the kernels, or the CPU model, can't run the path
  broken         a path ran wrongly, or the kernel died on it

A comparison is refused (exit code 2) if BASE and NEW differ in anything but the kernel, such as the
version of QEMU, the CPU model or the number of runs; --across compares them all the same.

What is not compared does not pass --check (exit code 3): a path that BASE could run and NEW can't
or lacks, a path that --only names in full and one side can't run or lacks, or nothing compared at
all. A path that only NEW can run is a note.";

/// What each x86 kernel hot path costs, exactly
#[derive(Debug, Parser)]
#[command(
    name = "pathmeter", version, long_about = ABOUT, after_help = EXAMPLES, max_term_width = 100,
    subcommand_required = true, arg_required_else_help = true
)]
pub(crate) struct Cli {
    /// How the output looks.
    #[command(flatten)]
    pub(crate) look: Look,
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// How the output of any verb looks.
#[derive(Debug, Args)]
pub(crate) struct Look {
    /// Use colours; auto does so on a terminal, unless `NO_COLOR` is set
    #[arg(
        long, global = true, display_order = 98, value_name = "WHEN",
        default_value_t = ColorChoice::Auto
    )]
    pub(crate) color: ColorChoice,
    /// Show neither progress nor notes: only results and errors
    #[arg(long, short, global = true, display_order = 99)]
    pub(crate) quiet: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List what can be measured
    Paths(PathsArgs),
    /// Measure all paths of one kernel
    Measure(MeasureArgs),
    /// Compare two kernels: which paths changed, and by how much
    Compare(CompareArgs),
    /// Find the first kernel, or commit, in which a path costs something else
    Bisect(BisectArgs),
    /// Show which functions a path's instructions, or a difference's, are in
    Explain(ExplainArgs),
    /// Write results, comparisons or experiments as one page of HTML that opens offline
    Report(ReportArgs),
    /// Run the classic before-and-after experiments, on the lab kernel
    Experiment(ExperimentArgs),
    /// Run a program of yours: what does a kernel cost it, system call by system call?
    Run(RunArgs),
    /// What each setting of a kernel costs: mitigations, hardening, debugging aids
    Settings(SettingsArgs),
    /// Write a small program to begin one of your own from, for `run`
    NewProbe(NewProbeArgs),
    /// Keep results, and show how paths changed over them
    History(HistoryArgs),
    /// Check the counts with a second interpreter, Bochs: every path, instruction by instruction
    Witness(WitnessArgs),
    /// List a kernel's functions, which can be points of a window
    Symbols(SymbolsArgs),
    /// Show the CPUs that a guest can have, or write this machine's as one
    Cpu(CpuArgs),
    /// Check what this machine can measure
    Doctor(DoctorArgs),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

/// Arguments of `paths`.
#[derive(Debug, Args)]
pub(crate) struct PathsArgs {
    /// Print JSON (pathmeter.paths/1) instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `measure`.
#[derive(Debug, Args)]
#[command(after_help = MEASURE_EXAMPLES)]
pub(crate) struct MeasureArgs {
    /// A kernel image, a result file, or lab[:mechanism=variant,…]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) subject: PathBuf,
    /// Probes of the user's own.
    #[command(flatten)]
    pub(crate) probes: ProbeArgs,
    /// What is printed or written.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// How guests run.
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    /// What to compare against: a kernel image, a result file, or lab[:mechanism=variant,…]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) base: PathBuf,
    /// What to judge: the same. Not with --cpu or --under given twice, which compares BASE with
    /// itself
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) new: Option<PathBuf>,
    /// Explain each path that changed: the functions in which the difference is
    ///
    /// The JSON document is then pathmeter.explained-comparison/1: `comparison`, and
    /// `explanations`.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Exit with 1 if NEW is worse in one of the paths shown, and with 3 if one that BASE could run
    /// was not compared
    ///
    /// EVENTS are what makes it worse, separated by commas: instructions, slow (all classes of slow
    /// instructions), all, or the names of events (docs/events.md); with :N if a difference of up
    /// to N passes. A path that is broken is always worse.
    #[arg(
        long,
        value_name = "EVENTS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = USUAL
    )]
    pub(crate) check: Option<GatedEvents>,
    /// Show of how many functions of each path the entry moved within its line of 64 bytes; with
    /// --explain, also where they stand
    #[arg(long)]
    pub(crate) placement: bool,
    /// Count changes of less than so many percent of BASE as same
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub(crate) threshold: f64,
    /// Compare even if more than the kernel differs; the differences are listed
    #[arg(long)]
    pub(crate) across: bool,
    /// Probes of the user's own.
    #[command(flatten)]
    pub(crate) probes: ProbeArgs,
    /// What is printed or written.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Limits, and formats for other programs.
    #[command(flatten)]
    pub(crate) formats: FormatArgs,
    /// How guests run.
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

impl CompareArgs {
    /// What the table shows of the placement.
    pub(crate) fn shown(&self) -> Placement {
        if self.placement { Placement::Shown } else { Placement::Hidden }
    }
}

/// Arguments of `witness`.
#[derive(Debug, Args)]
#[command(after_help = WITNESS_EXAMPLES)]
pub(crate) struct WitnessArgs {
    /// Kernel images, or lab[:mechanism=variant,…]
    #[arg(required = true, value_name = "SUBJECT", value_hint = ValueHint::FilePath)]
    pub(crate) subjects: Vec<PathBuf>,
    /// The Bochs to run; by default bochs on PATH
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) bochs: Option<PathBuf>,
    /// What is executed instead of the paths.
    #[command(flatten)]
    pub(crate) packing: PackingArgs,
    /// How guests run.
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

/// What is printed or written of paths, and where.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Where the document goes.
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Show only these paths: names or patterns (`switch.*`), repeated or separated by commas
    ///
    /// Every run still executes all paths, so that a path's cost never depends on what else was
    /// asked for.
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

/// Where a document goes.
#[derive(Debug, Args)]
pub(crate) struct DocumentArgs {
    /// Print JSON instead of a table: to stdout, or to the FILE of --output
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the JSON document to FILE; the table still goes to stdout, unless --json is given
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

impl DocumentArgs {
    /// What is written and read, if these are the subjects.
    pub(crate) fn named<'a>(&'a self, subjects: &'a [&'a Path]) -> Named<'a, 1> {
        let outputs = [("--output", self.output.as_deref())];
        Named { outputs, inputs: subjects, prints: !self.json }
    }
}

/// How guests run. All but the last two belong to a result's configuration.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Exact runs")]
pub(crate) struct GuestArgs {
    /// The QEMU to run; by default qemu-system-x86_64 on PATH
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) qemu: Option<PathBuf>,
    /// The guest's CPU: plain (the default), haswell, skylake, cascadelake, icelake, zen1, zen2,
    /// zen3, zen4, each of these but plain as a guest sees it (skylake-guest), max, a FILE.toml
    /// that `pathmeter cpu capture` wrote, or QEMU's own text
    ///
    /// `pathmeter doctor` and docs/cpu.md describe the profiles: a kernel patches itself as on that
    /// machine, alike in every QEMU. Any other text is QEMU's, and may stand for another CPU in
    /// another version: then only results of one version are compared. `compare` and `explain` take
    /// two, for one kernel: the first is BASE's.
    #[arg(
        long, value_name = "CPU",
        value_parser = NonEmptyStringValueParser::new().try_map(|text| cpu_model(&text))
    )]
    pub(crate) cpu: Vec<Cpu>,
    /// The guest's memory
    #[arg(
        long, value_name = "MIB", default_value_t = Settings::default().memory_mib,
        value_parser = clap::value_parser!(u32).range(64..=65536)
    )]
    pub(crate) memory: u32,
    /// Words to add to the kernel's command line
    #[arg(
        long, value_name = "WORDS", default_value = "", hide_default_value = true,
        value_parser = kernel_words
    )]
    pub(crate) append: String,
    /// What the kernel is measured under: settings, separated by spaces, or `default`
    ///
    /// A setting is boot:WORD for the kernel's command line, sysctl:NAME=VALUE, or seccomp:FILE for
    /// an OCI profile that filters the system calls of what is measured. What this kernel does not
    /// know is an error. `compare` and `explain` take two, for one kernel: the first is BASE's
    /// (docs/settings.md).
    #[arg(long, value_name = "CONDITION", value_parser = condition)]
    pub(crate) under: Vec<Condition>,
    /// Runs of the probes, each with other addresses and another phase of the timer tick
    ///
    /// Some paths have several exact values, chosen by address randomisation, timer phase or the
    /// layout of the code. More runs find more of them and take longer.
    #[arg(
        long, value_name = "N", default_value_t = RUNS,
        value_parser = clap::value_parser!(u32).range(1..=MOST_RUNS)
    )]
    pub(crate) perturb: u32,
    /// Give up on a guest that takes longer to boot, or for one perturbed run
    #[arg(
        long, value_name = "SECONDS", default_value_t = TIMEOUT,
        value_parser = clap::value_parser!(u64).range(1..=86400)
    )]
    pub(crate) timeout: u64,
    /// Neither read nor write cached results and snapshots
    #[arg(long)]
    pub(crate) no_cache: bool,
}

/// Bytes of a command line that x86 kernels read: `COMMAND_LINE_SIZE` without the final NUL (Linux
/// `arch/x86/include/asm/setup.h`).
pub(crate) const LONGEST: usize = 2047;

/// A profile or a CPU model, not QEMU's request for a list of them.
fn cpu_model(text: &str) -> Result<Cpu, String> {
    match text {
        "help" | "?" => Err(format!(
            "give the name of a profile ({NAMES}) or of a model; `qemu-system-x86_64 -cpu help` \
             lists those"
        )),
        text => Cpu::read(text).map_err(|error| error.to_string()),
    }
}

/// A condition, with the program of its filter.
fn condition(text: &str) -> Result<Condition, String> {
    Condition::parse(text, seccomp::program).map_err(|error| error.to_string())
}

/// Words for the kernel's command line: one line that the kernel will not cut short.
fn kernel_words(words: &str) -> Result<String, String> {
    let settings = Settings { append: words.trim().to_owned(), ..Settings::default() };
    let length = settings.command_line().len();
    if words.chars().any(char::is_control) {
        return Err("control characters can't stand in a kernel's command line".to_owned());
    }
    if length > LONGEST {
        return Err(format!(
            "a command line of {length} bytes, of which x86 kernels read {LONGEST}"
        ));
    }
    Ok(settings.append)
}

impl Default for GuestArgs {
    /// What an empty command line means.
    fn default() -> Self {
        let Settings { memory_mib, append, .. } = Settings::default();
        Self {
            qemu: None,
            cpu: Vec::new(),
            memory: memory_mib,
            append,
            under: Vec::new(),
            perturb: RUNS,
            timeout: TIMEOUT,
            no_cache: false,
        }
    }
}

impl GuestArgs {
    /// What the user chose of the guest's machine; of two CPUs the first.
    pub(crate) fn settings(&self) -> Settings {
        let usual = Settings::default();
        let (cpu, append) = (self.cpu.first().cloned(), self.append.clone());
        let (cpu, condition) = (cpu.unwrap_or(usual.cpu), self.condition().cloned());
        let condition = condition.unwrap_or_default();
        Settings { cpu, memory_mib: self.memory, append, condition, ..usual }
    }

    /// The two CPUs or conditions in which one kernel is to be compared, if the user named two.
    pub(crate) fn pair(&self) -> Result<Option<Pair<'_>>, Failure> {
        let refused = |message: &str| Failure::Usage {
            message: message.to_owned(),
            help: "one kernel is compared on two CPUs, or under two conditions, at a time"
                .to_owned(),
        };
        match (&self.cpu[..], &self.under[..]) {
            ([] | [_], [] | [_]) => Ok(None),
            ([base, new], [] | [_]) => Ok(Some(Pair::Cpus([base, new]))),
            ([] | [_], [base, new]) => Ok(Some(Pair::Conditions([base, new]))),
            ([_, _], [_, _]) => Err(refused("--cpu and --under are both given twice")),
            ([_, _, _, ..], _) => Err(refused("--cpu is given more than twice")),
            (_, _) => Err(refused("--under is given more than twice")),
        }
    }

    /// Refuses two CPUs, and two conditions.
    pub(crate) fn refuse_pairs(&self) -> Result<(), Failure> {
        let twice = match (self.cpu.len(), self.under.len()) {
            (0 | 1, 0 | 1) => return Ok(()),
            (0 | 1, _) => "--under",
            _ => "--cpu",
        };
        Err(Failure::Usage {
            message: format!("{twice} is given more than once"),
            help: "`compare` and `explain` show one kernel on two CPUs, or under two conditions"
                .to_owned(),
        })
    }

    /// The condition of all that is measured, if there is just one.
    pub(crate) fn condition(&self) -> Option<&Condition> {
        if let [condition] = &self.under[..] { Some(condition) } else { None }
    }

    /// The longest wait for a boot or a run.
    pub(crate) fn limit(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// The path, as `pathmeter paths` names it
    pub(crate) path: String,
    /// A kernel image, or lab[:mechanism=variant,…]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) subject: PathBuf,
    /// Another one: show the functions in which the difference is. With --cpu or --under given
    /// twice, the difference is that of SUBJECT on two CPUs or under two conditions
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) new: Option<PathBuf>,
    /// Another path of the same kernel: show how PATH differs from it
    #[arg(long, value_name = "BASE_PATH", conflicts_with = "new")]
    pub(crate) against: Option<String>,
    /// The subject's vmlinux with debug information: shows inlined functions and source lines
    ///
    /// For a build folder, the vmlinux in it is used without this option.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) vmlinux: Option<PathBuf>,
    /// The same for NEW
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "new")]
    pub(crate) new_vmlinux: Option<PathBuf>,
    /// Windows that PATH may be of, as PATH/NAME.
    #[command(flatten)]
    pub(crate) windows: WindowArgs,
    /// What is printed or written.
    #[command(flatten)]
    pub(crate) output: ExplainOutput,
    /// How guests run.
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

/// What `explain` prints or writes, and where.
#[derive(Debug, Default, Args)]
pub(crate) struct ExplainOutput {
    /// Print JSON (pathmeter.explain/1) instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the JSON document to FILE
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Write a flame graph; for two kernels or paths, of their difference
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
    /// Write folded stacks, as flame graph tools read them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) folded: Option<PathBuf>,
    /// Write a profile in callgrind's format; for two kernels or paths, of the new one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) callgrind: Option<PathBuf>,
    /// Show so many levels of the call tree
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// Hide what has fewer than N instructions, or less than a share such as 2%. Default: 0.5% for
    /// one window, nothing hidden for a difference
    #[arg(long, value_name = "N")]
    pub(crate) min: Option<Least>,
    /// Show where functions stand: the entry's address modulo 64, lines and pages of code; of a
    /// difference, also the functions that only moved
    #[arg(long)]
    pub(crate) placement: bool,
}

impl ExplainOutput {
    /// What is written and read: the document, the flame graph, the stacks, the profile.
    pub(crate) fn named<'a>(&'a self, inputs: &'a [&'a Path]) -> Named<'a, 4> {
        let outputs = [
            ("--output", self.output.as_deref()),
            ("--svg", self.svg.as_deref()),
            ("--folded", self.folded.as_deref()),
            ("--callgrind", self.callgrind.as_deref()),
        ];
        Named { outputs, inputs, prints: !self.json || self.output.is_none() }
    }

    /// How much of the tree is shown, of a difference or of one window.
    pub(crate) fn limits(&self, difference: bool) -> Limits {
        let usual = if difference { Least::Instructions(1) } else { Least::Share(50) };
        Limits { depth: self.depth, least: self.min.unwrap_or(usual), placement: self.placement }
    }
}

/// Arguments of `experiment`.
#[derive(Debug, Args)]
#[command(after_help = EXPERIMENT_EXAMPLES)]
pub(crate) struct ExperimentArgs {
    /// The experiment; by default all, one after the other
    pub(crate) name: Option<String>,
    /// Only list what there is
    #[arg(long)]
    pub(crate) list: bool,
    /// Print JSON (an array of pathmeter.experiment/1) instead of pages
    #[arg(long, conflicts_with = "list")]
    pub(crate) json: bool,
    /// Judge each expectation also under its counter-example, where it must fail
    ///
    /// A counter-example measures other subjects in place of the expectation's own, such as the
    /// kernel before the fix in place of the one after it. An expectation that holds all the same
    /// does not depend on its mechanism, and the exit code is 1.
    #[arg(long, conflicts_with = "list")]
    pub(crate) counter_examples: bool,
    /// How guests run.
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON (pathmeter.doctor/1) instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// The QEMU to check; by default qemu-system-x86_64 on PATH
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) qemu: Option<PathBuf>,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all verbs into DIR instead
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent),
        _ => Err("a percentage is a number such as 0.5, not below 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use pathmeter_catalogue::Suite;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_document_holds_the_samples_of_the_most_runs() {
        let most = usize::try_from(MOST_RUNS).unwrap();
        let windows = || Suite::Exact.paths().iter().map(|path| path.kind.samples() as usize);
        assert!(windows().sum::<usize>() * most <= pathmeter_model::MAX_SAMPLES);
        assert!(windows().all(|windows| windows * most <= pathmeter_model::MAX_SAMPLES_PER_PATH));
    }

    #[test]
    fn a_command_line_that_the_kernel_would_cut_is_refused() {
        assert_eq!(kernel_words(" nopti quiet ").as_deref(), Ok("nopti quiet"));
        assert!(kernel_words(&"a".repeat(2000)).unwrap_err().contains("2047"));
        assert!(kernel_words("nopti\nquiet").is_err());
    }

    #[test]
    fn a_list_of_models_is_no_model() {
        assert!(cpu_model("help").unwrap_err().contains(NAMES));
        assert_eq!(cpu_model("max"), Ok(Cpu::named("max")));
        assert!(cpu_model("./nowhere.toml").unwrap_err().contains("./nowhere.toml"));
    }

    #[test]
    fn the_help_names_every_profile() {
        let help = Cli::command().find_subcommand_mut("measure").unwrap().render_help();
        let help = help.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(&NAMES.replace("plain,", "plain (the default),")), "{help}");
    }

    #[test]
    fn percentages_are_not_negative() {
        assert_eq!((percent("0.5"), percent("2%")), (Ok(0.5), Ok(2.0)));
        assert!(["-1", "inf", "NaN", "", "%", "x"].iter().all(|text| percent(text).is_err()));
    }
}
