//! The arguments of `symbols`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::GuestArgs;

const EXAMPLES: &str = "\
Examples:
  pathmeter symbols bzImage                           all functions, a line each
  pathmeter symbols bzImage '*wake_up*'               those with such a name
  pathmeter symbols bzImage ttwu_do_activate --vmlinux vmlinux
                                                      it is inlined: into which functions?";

/// Arguments of `symbols`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("perturb", |arg| arg.hide(true)))]
pub(crate) struct SymbolsArgs {
    /// A kernel image, or lab[:mechanism=variant,…]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) subject: PathBuf,
    /// Only functions with one of these names; * is any text, ? any character
    pub(crate) name: Vec<String>,
    /// Its vmlinux with debug information: names the functions that hold an inlined one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Start no guest: print nothing if the cache does not have them yet, for completions
    #[arg(long, conflicts_with = "no_cache")]
    pub(crate) cached: bool,
    /// Print JSON (pathmeter.symbols/1) with addresses, instead of names
    #[arg(long)]
    pub(crate) json: bool,
    /// How guests run.
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}
