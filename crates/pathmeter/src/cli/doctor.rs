//! The command line of `doctor`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{GuestArgs, PackingArgs};

const EXAMPLES: &str = "\
With --witness, kernels are executed in Bochs too, which shares no code with QEMU. On a CPU that \
both have, the same kernel executes the same instructions in both, unless it decides differently \
by its data. A path whose counts differ is recorded in both, and the instruction at which they \
diverge is named. Needs Debian's packages bochs, bochs-sdl and vgabios, and takes about a minute a \
kernel.

Examples:
  pathmeter doctor
  pathmeter doctor host                               what disturbs times here?
  pathmeter doctor --profiles                         which CPUs can guests have here?
  pathmeter doctor --witness bzImage
  pathmeter doctor --witness old.deb new.deb lab
  pathmeter doctor --witness bzImage -- ls -R /       a program of yours

Exit codes:
  0  exact runs work here; with --witness, the two agree on every path that both can run, or
     differ only where the kernel decided differently, or agree in every run of the program
  1  with --witness, the two disagree
  3  exact runs don't work here; with --witness, a kernel could not be run in one of the two";

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("cpu", |arg| arg.hide(true)))]
pub(crate) struct DoctorArgs {
    /// Print JSON (pathmeter.doctor/1) instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Show as well which profiles of CPUs this QEMU can have, and which is nearest to this machine
    #[arg(long, conflicts_with = "json")]
    pub(crate) profiles: bool,
    /// Check the counts of these kernels instead, with a second interpreter, Bochs: every path,
    /// instruction by instruction
    #[arg(long, requires = "subjects")]
    pub(crate) witness: bool,
    /// host: look at what disturbs times on this machine instead. With --witness: kernel images, or
    /// lab[:mechanism=variant,…]
    #[arg(value_name = "SUBJECT", value_hint = ValueHint::FilePath)]
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
