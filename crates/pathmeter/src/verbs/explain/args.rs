//! The arguments of `explain`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};

use crate::arguments::{ExplainOutput, GuestArgs, PackingArgs, VmlinuxArgs, WindowArgs};

const EXAMPLES: &str = "\
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

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
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
    #[command(flatten)]
    pub(crate) debug: VmlinuxArgs,
    /// Windows that PATH may be of, as PATH/NAME.
    #[command(flatten)]
    pub(crate) windows: WindowArgs,
    /// What is printed or written.
    #[command(flatten)]
    pub(crate) output: ExplainOutput,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

/// A program of which a row is explained.
#[derive(Debug, Args)]
pub(crate) struct ExplainedProgram {
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
