//! The arguments of `explain`.

use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};
use pathmeter_measure::subject::image::Image;
use pathmeter_report::{Least, Limits};

use super::{GuestArgs, PackingArgs, WindowArgs};
use crate::screen::contents::{Contents, Output};
use crate::screen::destination::{Named, is_stdout};

/// Rows of each table of a difference: all tables then fit a screen of 50 lines.
const MOST_ROWS: usize = 8;

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  pathmeter explain switch.yield bzImage              the call tree, to the instruction
  pathmeter explain file.stat old/bzImage new/bzImage which functions changed it
  pathmeter explain switch.yield+ioport-both bzImage --against switch.yield
                                                      what the I/O bitmaps cost
  pathmeter explain tcp.round-trip bzImage --svg tcp.svg --min 2%
  pathmeter explain switch.yield bzImage --vmlinux vmlinux   inlined functions too
  pathmeter explain syscall.getppid bzImage --json | jq .base.window.census
  pathmeter explain openat bzImage -- ls -R /         a row of `pathmeter run`: its call tree
  pathmeter explain openat bzImage --callers -- ls -R /       and who makes the calls
  pathmeter explain 'user code' bzImage --svg own.svg -- ./program
  pathmeter explain user.my-fstat old.deb new.deb -- ./program
                                                      a region, and the causes of its change
  pathmeter explain user.new bzImage --against user.old -- ./program
                                                      how one region differs from another";

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// The path, as `pathmeter list paths` names it; with PROGRAM, a row of `pathmeter run`, such
    /// as `read`, `page fault: write, page not present` or `user code`, or a region: `user.NAME`
    pub(crate) path: String,
    /// A kernel image, or lab[:mechanism=variant,…]; not a result, which contains no kernel
    #[arg(value_name = "KERNEL", value_hint = ValueHint::FilePath)]
    pub(crate) subject: PathBuf,
    /// Another one: show the functions in which the difference is. With --cpu or --under given
    /// twice, the difference is that of KERNEL on two CPUs or under two conditions
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) new: Option<PathBuf>,
    /// Another path of the same kernel or, with PROGRAM, another row of it: show how PATH differs
    /// from it
    #[arg(long, value_name = "BASE_PATH", conflicts_with = "new")]
    pub(crate) against: Option<String>,
    /// The program whose row is explained.
    #[command(flatten)]
    pub(crate) program: ExplainedProgram,
    /// Debug information.
    #[command(flatten)]
    pub(crate) debug: VmlinuxArgs,
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

/// A program of which a row is explained.
#[derive(Debug, Args)]
pub(crate) struct ExplainedProgram {
    /// What is executed.
    #[command(flatten)]
    pub(crate) packing: PackingArgs,
    /// Also show which calls of PROGRAM lead to the row; those of regions and of `user code` are
    /// always shown
    #[arg(long)]
    pub(crate) callers: bool,
    /// The exit code that PROGRAM must end with; with any other there is no measurement
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) exit_code: u8,
    /// Take functions of PROGRAM as regions, as `pathmeter run` does; repeated
    #[arg(long, value_name = "SYMBOL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) region_function: Vec<String>,
}

/// The vmlinux of each kernel.
#[derive(Debug, Default, Args)]
pub(crate) struct VmlinuxArgs {
    /// The kernel's vmlinux with debug information: shows source lines, and, if there is one of
    /// each kernel, inlined functions
    ///
    /// For a build folder, the vmlinux in it is used without this option.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) vmlinux: Option<PathBuf>,
    /// The same for NEW
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "new")]
    pub(crate) new_vmlinux: Option<PathBuf>,
}

impl VmlinuxArgs {
    /// All that are named.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.vmlinux.iter().chain(&self.new_vmlinux).map(PathBuf::as_path)
    }

    /// The kernels with what is named for them. Two that are one kernel have one vmlinux.
    pub(crate) fn of(&self, images: Vec<Image>, is_one: bool) -> Vec<Image> {
        let base = self.vmlinux.as_deref();
        let new = if is_one { base } else { self.new_vmlinux.as_deref() };
        let named = [base, new].into_iter().chain(std::iter::repeat(None));
        images.into_iter().zip(named).map(|(image, named)| image.with_vmlinux(named)).collect()
    }
}

/// What `explain` prints or writes, and where.
#[derive(Debug, Default, Args)]
pub(crate) struct ExplainOutput {
    /// Print JSON (pathmeter.explain/1) instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the JSON document to FILE, - for stdout
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Write a flame graph; for two kernels, paths or rows, of their difference
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
    /// Write folded stacks, as flame graph tools read them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) folded: Option<PathBuf>,
    /// Write a profile in callgrind's format; for two kernels, paths or rows, of the new one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) callgrind: Option<PathBuf>,
    /// Show N levels of the call tree
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// Hide rows with fewer than N instructions, or less than a share such as 2%. Default: 0.5%
    /// for one window; of a difference, the largest rows, as many as fit a screen
    #[arg(long, value_name = "N")]
    pub(crate) min: Option<Least>,
    /// Show the placement of functions: the entry's address modulo 64, lines and pages of code;
    /// of a difference, also the functions that only moved
    #[arg(long)]
    pub(crate) placement: bool,
}

impl ExplainOutput {
    /// The files that the command line names: the inputs, and where the document, the flame graph,
    /// the stacks and the profile are written.
    pub(crate) fn named_files<'a>(&'a self, inputs: &'a [&'a Path]) -> Named<'a, 4> {
        let outputs = [
            ("--output", Contents::Json, &self.output),
            ("--svg", Contents::Svg, &self.svg),
            ("--folded", Contents::Text, &self.folded),
            ("--callgrind", Contents::Text, &self.callgrind),
        ];
        let outputs = outputs.map(|(option, contents, file)| Output {
            option,
            contents,
            file: file.as_deref(),
        });
        let prints = !self.json() || self.output.is_none();
        Named { outputs, inputs, prints }
    }

    /// Whether JSON is printed in place of tables.
    pub(crate) fn json(&self) -> bool {
        self.json || self.output.as_deref().is_some_and(is_stdout)
    }

    /// How much of the tree is shown, of a difference or of one window.
    pub(crate) fn limits(&self, difference: bool) -> Limits {
        let usual = if difference { Least::Instructions(1) } else { Least::Share(50) };
        let fits = difference && self.min.is_none() && self.depth.is_none() && !self.placement;
        Limits {
            depth: self.depth,
            least: self.min.unwrap_or(usual),
            most: fits.then_some(MOST_ROWS),
            placement: self.placement,
        }
    }
}
