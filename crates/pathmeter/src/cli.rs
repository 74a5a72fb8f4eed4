//! The command line, as data. Its comments are the help text that users read.

mod bisect;
mod doctor;
mod edited;
mod explain;
mod formats;
mod guest;
mod history;
mod host;
mod list;
mod new_probe;
mod plan;
mod probe_name;
mod report;
mod results;
mod run;
mod settings;
mod variable;
mod witness;
mod words;

use std::path::{Path, PathBuf};

use clap::{Args, ColorChoice, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

pub(crate) use self::bisect::BisectArgs;
pub(crate) use self::doctor::DoctorArgs;
pub(crate) use self::edited::EditedArg;
pub(crate) use self::explain::{ExplainArgs, ExplainOutput, VmlinuxArgs};
use self::formats::of_page;
pub(crate) use self::formats::{FormatArgs, GateArgs};
pub(crate) use self::guest::{GuestArgs, LONGEST, TIMEOUT};
pub(crate) use self::history::{
    AddArgs, BlameArgs, ExportArgs, HistoryArgs, HistoryVerb, PlotArgs, PruneArgs, ShowArgs,
};
pub(crate) use self::host::{
    HostArgs, HostCompareArgs, HostExperimentArgs, HostMeasureArgs, HostVerb, SessionArgs,
};
pub(crate) use self::list::{CpusArgs, FunctionsArgs, ListArgs, ListWhat, PathsArgs};
pub(crate) use self::new_probe::RunVerb;
pub(crate) use self::plan::{
    DraftArgs, EmitArgs, MergeArgs, PlanArgs, PlanBuildArgs, PlanRunArgs, PlanStatusArgs, PlanVerb,
    RecheckArgs, RunnerArgs,
};
pub(crate) use self::report::ReportArgs;
pub(crate) use self::results::ResultsArg;
pub(crate) use self::run::{FilesArgs, PackingArgs, ProbeArgs, RunArgs, WindowArgs};
pub(crate) use self::settings::SettingsArgs;
pub(crate) use self::variable::variable;
pub(crate) use self::witness::WitnessArgs;
pub(crate) use self::words::Words;
use crate::screen::contents::{Contents, Output};
use crate::screen::destination::{Named, is_stdout};
use pathmeter_gate::{BUDGET_EXAMPLE, EventGate, USUAL};
use pathmeter_report::{AreaSums, Rows};

const ABOUT: &str = "\
Measures what each x86 kernel hot path costs, exactly, and compares two kernels to the instruction.

A kernel image boots in QEMU's interpreter, under a clock that counts instructions, with a small \
program as its init that runs each path and proves that it did. The same image gives the same \
numbers, bit for bit, on any machine: no root, no KVM and no quiet machine is needed. \
An instruction count is not a time.

A SUBJECT is a kernel image (bzImage, vmlinux, unified kernel image), a package that holds one \
(.deb, .rpm, .pkg.tar.zst, .apk), a folder in which a kernel was built, a result file that \
`measure -o` wrote, `apt:PACKAGE`: a package that apt-get(8) fetches, `running`: the image of the \
kernel that runs here, or `lab[:mechanism=variant,…]`: the bundled lab kernel. Its machine has one \
CPU, or two with the word cpus=2; vendor=amd makes it AMD's. Times of this machine, in \
nanoseconds, are those of `host`.";

const EXAMPLES: &str = "\
Examples:
  pathmeter doctor                                    can this machine measure?
  pathmeter compare old/bzImage new/bzImage           which paths changed, by how much?
  pathmeter compare base.json arch/x86/boot/bzImage --check
                                                      did my change make any path more expensive?
  pathmeter measure bzImage -o base.json              keep a result to compare against
  pathmeter run old.deb new.deb -- ls -R /            what do they cost a program of yours?
  pathmeter explain file.stat old.deb new.deb         in which functions is the difference?
  pathmeter explain file.stat new.deb --svg flame.svg    a path's functions as a flame graph
  pathmeter report old.deb new.deb -o report.html     the comparison as a page
  pathmeter compare bzImage --under default --under seccomp:docker
                                                      what does one condition cost here?
  pathmeter settings bzImage                          what does each mitigation cost here?
  pathmeter settings bzImage --slope 'landlock:{0,1,2,4}'    what does each layer cost?
  pathmeter history add base.json; pathmeter history blame switch.yield
                                                      which of many results changed a path?
  pathmeter plan kernels.toml -o plan.json            many kernels, on several machines
  pathmeter host --only 'syscall.*'                   what do paths take here, in nanoseconds?
  pathmeter list paths                                what is measured?

`pathmeter completions SHELL` prints a shell's completion script, `pathmeter man` the manual page.
Pages that help names, such as docs/guide/gates.md, come with the source; where pathmeter was
installed as a package, they are in /usr/share/doc/pathmeter.

Exit codes:
  0    done; with --check, and no path is worse
  1    --check found a path that is higher, shows a new mode, has a longer tail, is broken, or is
       over its budget
  2    wrong usage, or a comparison that is refused
  3    something could not be measured, compared for --check, read or written
  75   of a plan, cells are still to be measured, and another try may help
  125  with --bisect, in place of 3: `git bisect run` skips the commit
  128  with --bisect, in place of 2: `git bisect run` gives up
  130  interrupted";

const MEASURE_EXAMPLES: &str = "\
Examples:
  pathmeter measure bzImage
  pathmeter measure linux-image-6.1.0-56-cloud-amd64_6.1.192-2_amd64.deb --only 'switch.*'
  pathmeter measure ~/linux                           the bzImage of a build folder
  pathmeter measure bzImage -o base.json              the table here, the result in a file
  pathmeter measure base.json                         the table of an earlier result
  pathmeter measure bzImage --json | jq '.paths[] | {path, estimate}'
  pathmeter measure bzImage --append mitigations=off  the same kernel, booted differently
  pathmeter measure bzImage --results results         from a plan's results, if it is there";

const EXPERIMENT_EXAMPLES: &str = "\
Each experiment is a mailing-list thread on a hidden cost: its symptom, cause, cure and published \
results, and the same mechanism in its old and new forms, measured on the lab kernel.

Examples:
  pathmeter experiment --list
  pathmeter experiment ioperm-2004
  pathmeter experiment                                all, one page each
  pathmeter host experiment vgetcpu-2007              the same question to this machine, in cycles
  pathmeter compare lab:iobitmap=full-copy lab:iobitmap=lazy   the same by hand, all paths
  pathmeter explain switch.yield lab                  the lab kernel's own switch

Exit codes:
  0  all results were as expected
  1  at least one result was not as expected
  3  a subject could not be measured";

const COMPARE_EXAMPLES: &str = "\
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
    /// Measure all paths of one kernel
    Measure(MeasureArgs),
    /// Compare two kernels: which paths changed, and by how much
    Compare(CompareArgs),
    /// Run a program of yours: what does a kernel cost it, system call by system call?
    Run(RunVerb),
    /// What each setting of a kernel costs: mitigations, hardening, debugging aids
    Settings(SettingsArgs),
    /// Show which functions a path's instructions, or a difference's, are in
    Explain(ExplainArgs),
    /// Find the first kernel, or commit, in which a path costs something else
    Bisect(BisectArgs),
    /// Write results, comparisons or experiments as one page of HTML that opens offline
    Report(ReportArgs),
    /// Plan many measurements, and run them on however many machines
    Plan(PlanArgs),
    /// Keep results, and show how paths changed over them
    History(HistoryArgs),
    /// Run the classic before-and-after experiments, on the lab kernel
    Experiment(ExperimentArgs),
    /// List what can be measured, a kernel's functions, or the CPUs that a guest can have
    List(ListArgs),
    /// Check the counts of kernels with a second interpreter, Bochs
    Witness(WitnessArgs),
    /// Check what this machine can measure
    Doctor(DoctorArgs),
    /// Take times on this machine, in nanoseconds, and compare them
    Host(HostArgs),
    /// Print the completion script of a shell, for packages
    #[command(hide = true)]
    Completions(CompletionsArgs),
    /// Print the manual page, for packages
    #[command(hide = true)]
    Man(ManArgs),
}

impl Verb {
    /// The folder of results that is looked into, and how guests run, if the user named one.
    pub(crate) fn results(&mut self) -> Option<(&Path, &mut GuestArgs)> {
        let (results, guest) = match self {
            Self::Measure(args) => (&args.results, &mut args.guest),
            Self::Compare(args) => (&args.results, &mut args.guest),
            Self::Run(RunVerb::Run(args)) => (&args.results, &mut args.guest),
            Self::Settings(args) => (&args.results, &mut args.guest),
            Self::Bisect(args) => (&args.results, &mut args.guest),
            _ => return None,
        };
        Some((results.results.as_deref()?, guest))
    }

    /// Whether documents are taken that were edited.
    pub(crate) fn accepts_edited(&self) -> bool {
        let edited = match self {
            Self::Measure(args) => &args.edited,
            Self::Compare(args) => &args.edited,
            Self::Run(RunVerb::Run(args)) => &args.edited,
            Self::Bisect(args) => &args.edited,
            Self::Report(args) => &args.edited,
            Self::Host(HostArgs { verb: None, measure }) => &measure.edited,
            Self::Host(HostArgs { verb: Some(HostVerb::Compare(args)), .. }) => &args.edited,
            Self::History(HistoryArgs { verb: HistoryVerb::Add(args), .. }) => &args.edited,
            _ => return false,
        };
        edited.accept_edited
    }
}

/// Arguments of `measure`.
#[derive(Debug, Args)]
#[command(
    after_help = MEASURE_EXAMPLES, mut_arg("results", |arg| arg.conflicts_with("window"))
)]
pub(crate) struct MeasureArgs {
    /// A kernel image, a result file, or lab[:mechanism=variant,…]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) subject: PathBuf,
    /// Probes of the user's own.
    #[command(flatten)]
    pub(crate) probes: ProbeArgs,
    /// Exit with 1 if a path costs more than the largest value that --budget states
    #[arg(long, requires = "budget")]
    pub(crate) check: bool,
    /// The TOML file with these values (docs/guide/gates.md)
    #[arg(long, value_name = "FILE", requires = "check", value_hint = ValueHint::FilePath)]
    pub(crate) budget: Option<PathBuf>,
    /// Which rows are shown.
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    /// Where the document goes.
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Whether documents are taken that were edited.
    #[command(flatten)]
    pub(crate) edited: EditedArg,
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

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(
    after_help = COMPARE_EXAMPLES.to_owned() + BUDGET_EXAMPLE,
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
    /// Debug information, with --explain.
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
    /// Which rows are shown.
    #[command(flatten)]
    pub(crate) rows: RowArgs,
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

impl CompareArgs {
    /// What is compared: two subjects, or one with itself.
    pub(crate) fn names(&self) -> Vec<&Path> {
        std::iter::once(&self.base).chain(&self.new).map(PathBuf::as_path).collect()
    }
}

/// Which rows are shown, and how many.
#[derive(Debug, Args)]
pub(crate) struct RowArgs {
    /// Which rows.
    #[command(flatten)]
    pub(crate) only: OnlyArg,
    /// Show all that is folded: small rows, and rows other than those that changed most
    #[arg(long)]
    pub(crate) all: bool,
}

impl RowArgs {
    /// Which rows of programs are shown: what the user names is not folded.
    pub(crate) fn rows(&self) -> Rows {
        let is_all = self.all || !self.only.only.is_empty();
        if is_all { Rows::All } else { Rows::Folded }
    }
}

/// Whether causes are also summed up.
#[derive(Debug, Args)]
pub(crate) struct SumArg {
    /// With --explain, also show the sum of the causes of each kind of work: locks, page tables,
    /// sockets, …
    #[arg(long)]
    by_area: bool,
}

impl SumArg {
    /// The same for the tables.
    pub(crate) fn sums(&self) -> AreaSums {
        if self.by_area { AreaSums::Shown } else { AreaSums::Hidden }
    }
}

/// Which rows are shown.
#[derive(Debug, Args)]
pub(crate) struct OnlyArg {
    /// Show only these paths or rows: names or patterns (`switch.*`), repeated or separated by
    /// commas
    ///
    /// Only the groups of paths that are needed are executed, which saves most of the time. A
    /// path's cost never depends on what else was asked for: a group is always executed whole.
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

/// Where a document goes.
#[derive(Debug, Args)]
pub(crate) struct DocumentArgs {
    /// Print JSON instead of a table: to stdout, or to the FILE of --output
    #[arg(long)]
    json: bool,
    /// Write the JSON document to FILE, - for stdout; the table still goes to stdout, unless --json
    /// is given or the document goes there
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

impl DocumentArgs {
    /// Whether JSON is printed in place of a table.
    pub(crate) fn json(&self) -> bool {
        self.json || self.output.as_deref().is_some_and(is_stdout)
    }

    /// The files that the command line names: these subjects, and where the document is written.
    pub(crate) fn named_files<'a>(&'a self, subjects: &'a [&'a Path]) -> Named<'a, 1> {
        let (option, file) = ("--output", self.output.as_deref());
        let outputs = [Output { option, contents: Contents::Json, file }];
        Named { outputs, inputs: subjects, prints: !self.json() }
    }
}

/// Arguments of `experiment`.
#[derive(Debug, Args)]
#[command(
    after_help = EXPERIMENT_EXAMPLES, mut_arg("format", of_page), mut_arg("write", of_page),
    mut_arg("list", |arg| arg.conflicts_with_all(MEASURING)),
    mut_arg("json", |arg| arg.help("Print JSON (an array of pathmeter.experiment/1) instead of \
                                    pages: to stdout, or to the FILE of --output"))
)]
pub(crate) struct ExperimentArgs {
    /// The experiment; by default all, one after the other
    pub(crate) name: Option<String>,
    /// Only list the experiments
    #[arg(long)]
    pub(crate) list: bool,
    /// Judge each expectation also under its counter-example, where it must fail
    ///
    /// A counter-example measures other subjects in place of the expectation's own, such as the
    /// kernel before the fix in place of the one after it. An expectation that holds all the same
    /// does not depend on its mechanism, and the exit code is 1.
    #[arg(long, conflicts_with = "list")]
    pub(crate) counter_examples: bool,
    /// Where the documents go.
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Formats for other programs.
    #[command(flatten)]
    pub(crate) formats: FormatArgs,
    /// How guests run.
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
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

/// Options of `experiment` that a list has no use for.
const MEASURING: [&str; 14] = [
    "json", "output", "format", "write", "qemu", "cpu", "memory", "append", "under", "module",
    "modules", "perturb", "timeout", "no_cache",
];

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
    use pathmeter_vm::{NAMES, Settings};

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_list_of_experiments_takes_nothing_that_measuring_does() {
        let command = Cli::command();
        let experiment = command.find_subcommand("experiment").unwrap();
        let measuring = ["DocumentArgs", "FormatArgs", "GuestArgs"];
        let groups = experiment.get_groups().filter(|it| measuring.contains(&it.get_id().as_str()));
        let mut names: Vec<&str> =
            groups.flat_map(clap::ArgGroup::get_args).map(clap::Id::as_str).collect();
        let mut refused = MEASURING.to_vec();
        names.sort_unstable();
        refused.sort_unstable();
        assert_eq!(names, refused);
    }

    #[test]
    fn the_help_names_every_profile() {
        let help = Cli::command().find_subcommand_mut("measure").unwrap().render_help();
        let help = help.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        let settings = Settings::default();
        assert!(help.contains(&format!("by default {}: {NAMES}", settings.cpu.name())), "{help}");
    }

    #[test]
    fn help_names_the_usual_events() {
        for verb in ["compare", "run", "settings"] {
            let mut command = Cli::command();
            let help = command.find_subcommand_mut(verb).unwrap().render_help().to_string();
            let words: String = help.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(&format!("[default events: {USUAL}]")), "{verb}");
        }
    }

    #[test]
    fn percentages_are_not_negative() {
        assert_eq!((percent("0.5"), percent("2%")), (Ok(0.5), Ok(2.0)));
        assert!(["-1", "inf", "NaN", "", "%", "x"].iter().all(|text| percent(text).is_err()));
    }
}
