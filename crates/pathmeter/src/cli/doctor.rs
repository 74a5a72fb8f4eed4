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
  pathmeter doctor --witness bzImage
  pathmeter doctor --witness old.deb new.deb lab
  pathmeter doctor --witness bzImage -- ls -R /       a program of yours

Exit codes: 0 if exact runs work here, 3 if not. With --witness, 0 if the two agree on every path \
that both can run, or differ only where the kernel decided differently, or if they agree in every \
run of the program; 1 if not, 3 if a kernel could not be run in one of them.";

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("cpu", |arg| arg.hide(true)))]
pub(crate) struct DoctorArgs {
    /// Print JSON (pathmeter.doctor/1) instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Check the counts of these kernels instead, with a second interpreter, Bochs: every path,
    /// instruction by instruction
    #[arg(long, requires = "subjects")]
    pub(crate) witness: bool,
    /// With --witness: kernel images, or lab[:mechanism=variant,…]
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
