//! The command line of `doctor`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

const EXAMPLES: &str = "\
Examples:
  pathmeter doctor
  pathmeter doctor --profiles                         which CPUs can guests have here?
  pathmeter host doctor                               what disturbs times here?

Exit codes:
  0  exact runs work here
  3  they don't";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Print JSON (pathmeter.doctor/1) instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Show as well which profiles of CPUs this QEMU can have, and which is nearest to this machine
    #[arg(long, conflicts_with = "json")]
    pub(crate) profiles: bool,
    /// The QEMU to look at; by default qemu-system-x86_64 on PATH
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) qemu: Option<PathBuf>,
}
