//! The command line of `list`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::arguments::GuestArgs;

const EXAMPLES: &str = "\
Examples:
  pathmeter list paths                       what can be measured
  pathmeter list functions bzImage '*wake_up*'
  pathmeter list cpus                        what --cpu names
  pathmeter list cpus icelake                everything about one of them";

const FUNCTIONS_EXAMPLES: &str = "\
Examples:
  pathmeter list functions bzImage                    all functions, a line each
  pathmeter list functions bzImage '*wake_up*'        those with such a name
  pathmeter list functions bzImage ttwu_do_activate --vmlinux vmlinux
                                                      it is inlined: into which functions?";

const CPUS_EXAMPLES: &str = "\
Examples:
  pathmeter list cpus
  pathmeter list cpus icelake                what it has, what is left out, what kernels print on it
  pathmeter list cpus --capture -o this.toml the CPU of this machine; needs no root
  pathmeter measure bzImage --cpu ./this.toml";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct ListArgs {
    #[command(subcommand)]
    pub(crate) what: ListWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ListWhat {
    /// List what can be measured
    Paths(PathsArgs),
    /// List a kernel's functions, which can be points of a window
    Functions(FunctionsArgs),
    /// List the CPUs that a guest can have, show one, or write this machine's as one
    Cpus(CpusArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PathsArgs {
    /// Print JSON (pathmeter.paths/1) instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = FUNCTIONS_EXAMPLES,
    mut_arg("perturb", |arg| arg.hide(true).value_parser(refuse_perturb))
)]
pub(crate) struct FunctionsArgs {
    /// A kernel image, or lab[:mechanism=variant,…]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) subject: PathBuf,
    /// Only functions with one of these names; * is any text, ? any character
    pub(crate) name: Vec<String>,
    /// Its vmlinux with debug information: names the functions into which one was inlined
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "name")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Start no guest: print nothing if the cache does not have them yet, for completions
    #[arg(long, conflicts_with = "no_cache")]
    pub(crate) cached: bool,
    /// Print JSON (pathmeter.functions/1) with addresses, instead of names
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

#[derive(Debug, Args)]
#[command(after_help = CPUS_EXAMPLES)]
pub(crate) struct CpusArgs {
    /// Show this one, a profile's name or a FILE.toml: its features, what is left out, and what
    /// kernels print on it
    #[arg(conflicts_with = "capture")]
    pub(crate) cpu: Option<String>,
    /// Write this machine's CPU as a profile, for --cpu FILE.toml
    #[arg(long)]
    pub(crate) capture: bool,
    /// Write it to FILE instead of stdout
    #[arg(
        long, short, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "capture",
        conflicts_with = "cpu"
    )]
    pub(crate) output: Option<PathBuf>,
}

/// No number of runs can be chosen where none is made.
fn refuse_perturb(_: &str) -> Result<u32, String> {
    Err("no path is executed".to_owned())
}
