//! The command line of `witness`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::arguments::{GuestArgs, PackingArgs};

const EXAMPLES: &str = "\
Kernels are executed in QEMU and in Bochs, which shares no code with it. On a CPU that both have, \
the same kernel executes the same instructions in both, unless it decides differently by its \
data. A path whose counts differ is recorded in both, and the instruction at which they diverge \
is named. Needs Debian's packages bochs, bochs-sdl and vgabios, and takes about a minute a kernel.

Examples:
  pathmeter witness bzImage
  pathmeter witness old.deb new.deb lab
  pathmeter witness bzImage -- ls -R /                a program of yours

Exit codes:
  0  the two agree on every path that both can run, or differ only where the kernel decided
     differently; or they agree in every run of the program
  1  they disagree
  3  a kernel could not be run in one of the two";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("cpu", |arg| arg.hide(true)))]
pub(crate) struct WitnessArgs {
    /// Kernel images, or lab[:mechanism=variant,…]
    #[arg(required = true, value_name = "KERNEL", value_hint = ValueHint::FilePath)]
    pub(crate) kernels: Vec<PathBuf>,
    /// The Bochs to run; by default bochs on PATH
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) bochs: Option<PathBuf>,
    /// What is executed instead of the paths.
    #[command(flatten)]
    pub(crate) packing: PackingArgs,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}
