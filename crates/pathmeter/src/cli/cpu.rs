//! The command line of `cpu`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

const EXAMPLES: &str = "\
Examples:
  pathmeter cpu list
  pathmeter cpu show icelake                 what it has, what is left out, what kernels print on it
  pathmeter cpu capture -o this.toml         the CPU of this machine; needs no root
  pathmeter measure bzImage --cpu ./this.toml";

/// Arguments of `cpu`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct CpuArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: CpuVerb,
}

/// What can be done with CPU profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum CpuVerb {
    /// Write this machine's CPU as a profile, for --cpu FILE.toml
    Capture(CaptureArgs),
    /// List the profiles
    List,
    /// Show a profile: its features, what is left out, and what kernels print on it
    Show(CpuShowArgs),
}

/// Arguments of `cpu capture`.
#[derive(Debug, Args)]
pub(crate) struct CaptureArgs {
    /// Write the profile to FILE instead of stdout
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `cpu show`.
#[derive(Debug, Args)]
pub(crate) struct CpuShowArgs {
    /// A profile's name, or a FILE.toml
    pub(crate) cpu: String,
}
