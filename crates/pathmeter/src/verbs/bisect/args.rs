//! The arguments of `bisect`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use pathmeter_trace::Event;

use crate::arguments::{
    DocumentArgs, EditedArg, FilesArgs, FormatArgs, GuestArgs, ProbeArgs, ResultsArg, of_page,
    percent,
};
use crate::arguments::{Words, words};

const EXAMPLES: &str = "\
The first of the kernels is what the others are compared with; the last one differs from it. In a \
git tree, the commit GOOD is, and BAD differs. Each step measures one kernel once: the numbers are \
exact. A commit that can't be built or measured is skipped.

Examples:
  pathmeter bisect 6.1.deb 6.6.deb 6.12.deb 7.2.deb --path switch.yield
  pathmeter bisect --good v6.12 --bad v6.13 --path switch.yield -- \\
      sh -c 'make olddefconfig && make -j8 bzImage'
  pathmeter bisect --good v6.12 --bad v6.13 --path file.stat --event lfence -- make -j8 bzImage
  pathmeter bisect results/ --path switch.yield       a plan's results, in the order of their names
  pathmeter bisect *.deb --path switch.yield --results results
                                                      the kernels; results are not measured again
  pathmeter bisect old.deb middle.deb new.deb --program 'ls -R /' --path getdents64

After Ctrl-C, or if the machine goes down, the same command goes on where it was.

Exit codes:
  0  the first kernel or commit that differs was found
  2  wrong usage
  3  there is none, or too many could not be measured";

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES, mut_arg("format", of_page), mut_arg("write", of_page),
    mut_arg("results", |arg| arg.conflicts_with_all(["good", "window", "program"]))
)]
pub(crate) struct BisectArgs {
    /// Kernel images, result files, or a folder of a plan's results, in order
    #[arg(value_name = "KERNEL", value_hint = ValueHint::FilePath, conflicts_with = "good")]
    pub(crate) kernels: Vec<PathBuf>,
    /// The path that changed, as `pathmeter list paths` names it; with --program the row, region or
    /// window, as `pathmeter run` names it
    #[arg(long, value_name = "PATH")]
    pub(crate) path: String,
    /// The event that changed (docs/reference/events.md); by default the path's instructions
    #[arg(long, value_name = "EVENT", value_parser = event)]
    pub(crate) event: Option<Event>,
    /// Treat changes of less than PERCENT as none
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub(crate) threshold: f64,
    /// In a git tree: a commit from before the change
    #[arg(long, value_name = "COMMIT", requires_all = ["bad", "command"])]
    pub(crate) good: Option<String>,
    /// A commit from after it
    #[arg(long, value_name = "COMMIT", requires = "good")]
    pub(crate) bad: Option<String>,
    /// The kernel that a build leaves, from the top of the tree
    #[arg(
        long, value_name = "FILE", default_value = "arch/x86/boot/bzImage",
        value_hint = ValueHint::FilePath
    )]
    pub(crate) image: PathBuf,
    /// Give up on a build that takes longer, and skip its commit
    #[arg(
        long, value_name = "SECONDS", default_value_t = 7200,
        value_parser = clap::value_parser!(u64).range(1..=604_800)
    )]
    pub(crate) build_timeout: u64,
    /// What builds the kernel, executed at the top of the tree
    #[arg(
        last = true, value_name = "BUILD-COMMAND", requires = "good",
        value_hint = ValueHint::CommandWithArguments
    )]
    pub(crate) command: Vec<OsString>,
    /// Run this program on each kernel, as `pathmeter run` does, and look at one of its rows: its
    /// words as in a shell, without variables and patterns
    #[arg(
        long, value_name = "COMMAND", value_parser = words,
        conflicts_with_all = ["window", "probe"],
        value_hint = ValueHint::CommandString
    )]
    pub(crate) program: Option<Words>,
    /// What is packed with the program.
    #[command(flatten)]
    pub(crate) files: FilesArgs,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Whether documents are taken that were edited.
    #[command(flatten)]
    pub(crate) edited: EditedArg,
    #[command(flatten)]
    pub(crate) formats: FormatArgs,
    /// Probes of the user's own.
    #[command(flatten)]
    pub(crate) probes: ProbeArgs,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
    /// Results that are there already.
    #[command(flatten)]
    pub(crate) results: ResultsArg,
}

fn event(word: &str) -> Result<Event, String> {
    let compared = Event::from_name(word).filter(|event| *event != Event::Clock);
    compared.ok_or_else(|| {
        let words: Vec<_> =
            Event::all().filter(|event| *event != Event::Clock).map(Event::word).collect();
        format!("{word} is no event that is compared; there are {}", words.join(", "))
    })
}
