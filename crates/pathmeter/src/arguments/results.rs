//! The argument that names results which are there already.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Results that are taken in place of measuring.
#[derive(Debug, Args)]
#[command(next_help_heading = "Exact runs")]
pub(crate) struct ResultsArg {
    /// Take results from a folder that `plan run` filled, and measure only what it lacks
    ///
    /// A result is taken if everything that decides its bytes is the same: the kernel
    /// and its name, the CPU, the condition, the program, the number of runs, the versions of
    /// pathmeter and QEMU. A file there that is not the result it is named as is an error. Nothing
    /// is written to the folder. It is looked at before the cache, and with --no-cache as well
    /// (docs/guide/plans.md).
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) results: Option<PathBuf>,
}
