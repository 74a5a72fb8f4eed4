//! The arguments of `report`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use crate::arguments::{EditedArg, GuestArgs};
use crate::screen::contents::{Contents, Output};
use crate::screen::destination::Named;

const EXAMPLES: &str = "\
One file, which opens offline: nothing is fetched, and nothing is sent.

Examples:
  pathmeter report old/bzImage new/bzImage -o report.html
                                        what changed, worst first, and in which functions
  pathmeter report base.json new.json -o report.html    the same of two results, without functions
  pathmeter report 5.10.deb 6.1.deb 6.12.deb -o report.html    a heat map, and a line for each path
  pathmeter report 5.10.json 6.1.json 6.12.json -o heat.svg --relative-to before \
      --only 'syscall.getppid,file.*,switch.*'            the heat map as a picture
  pathmeter compare old new --explain --json > change.json
  pathmeter report change.json -o report.html           of documents; nothing is measured
  pathmeter host -o today.times.json
  pathmeter report old.times.json today.times.json -o report.html    times of a machine
  pathmeter history show switch.yield --json -o history.json
  pathmeter report history.json -o report.html          a line over time, with dates and the step
  pathmeter experiment --json > experiments.json
  pathmeter report experiments.json -o report.html      before and after beside the published

Exit codes:
  0  the page is written
  2  the subjects can't be compared
  3  one of them, or one of its paths, could not be measured or explained; the page has the rest";

#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Kernel images, lab[:mechanism=variant,…], results, times of a machine, or documents that
    /// compare, explain, settings, run --slope, history show or experiment wrote with --json
    ///
    /// Two kernels or results are compared; of three or more the first is what the others are
    /// compared with, until the reader chooses another. Kernels are measured first, unless that is
    /// cached. A folder of a plan's results stands for all of them, by name; if they are of several
    /// CPUs, --across is needed.
    #[arg(required = true, value_name = "SUBJECT", value_hint = ValueHint::FilePath)]
    pub(crate) subjects: Vec<PathBuf>,
    /// Write the page to FILE, - for stdout; if that ends in `.svg`, the heat map of two or more
    /// kernels or results, or the lines of slopes, as a picture
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
    /// Which kernel the others are compared with in a picture: one of the subjects, or `before`
    /// for each the one before it; by default the first
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) relative_to: Option<PathBuf>,
    /// Show only these paths: names or patterns (`switch.*`), repeated or separated by commas; a
    /// picture has them in this order
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Don't record the functions of the kernels' paths, which takes seconds per kernel
    #[arg(long)]
    pub(crate) no_explain: bool,
    /// Show results together even if more than the kernel differs; the page states the differences
    #[arg(long)]
    pub(crate) across: bool,
    /// Whether documents are taken that were edited.
    #[command(flatten)]
    pub(crate) edited: EditedArg,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

impl ReportArgs {
    /// A message for people elsewhere, to whom this machine's folders mean nothing.
    pub(crate) fn without_folders(&self, message: &impl ToString) -> String {
        let names = self.subjects.iter().filter_map(|path| Some((path, path.file_name()?)));
        names.fold(message.to_string(), |text, (path, name)| {
            text.replace(&*path.to_string_lossy(), &name.to_string_lossy())
        })
    }

    /// Whether a picture is asked for, by the name of the file.
    pub(crate) fn is_picture(&self) -> bool {
        self.output.extension().is_some_and(|it| it.eq_ignore_ascii_case("svg"))
    }

    pub(crate) fn page(&self) -> Output<'_> {
        Output { option: "--output", contents: Contents::Page, file: Some(&self.output) }
    }

    /// The files that the command line names: the subjects, and where the page is written.
    pub(crate) fn named_files<'a>(&'a self, subjects: &'a [&'a Path]) -> Named<'a, 1> {
        Named { outputs: [self.page()], inputs: subjects, prints: false }
    }
}
