//! The arguments of `measure`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::arguments::{
    DocumentArgs, EditedArg, FormatArgs, GuestArgs, ProbeArgs, ResultsArg, RowArgs,
};

const EXAMPLES: &str = "\
Examples:
  pathmeter measure bzImage
  pathmeter measure linux-image-6.1.0-56-cloud-amd64_6.1.192-2_amd64.deb --only 'switch.*'
  pathmeter measure ~/linux                           the bzImage of a build folder
  pathmeter measure bzImage -o base.json              the table here, the result in a file
  pathmeter measure base.json                         the table of an earlier result
  pathmeter measure bzImage --json | jq '.paths[] | {path, estimate}'
  pathmeter measure bzImage --append mitigations=off  the same kernel, booted differently
  pathmeter measure bzImage --results results         from a plan's results, if it is there";

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES, mut_arg("results", |arg| arg.conflicts_with("window"))
)]
pub(crate) struct MeasureArgs {
    /// A kernel image, a result file, or lab[:mechanism=variant,…]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) subject: PathBuf,
    /// Probes of the user's own.
    #[command(flatten)]
    pub(crate) probes: ProbeArgs,
    /// Exit with 1 if a path costs more than the largest value that --budget states
    #[arg(long, requires = "budget")]
    pub(crate) check: bool,
    /// The TOML file with these values (docs/guide/gates.md)
    #[arg(long, value_name = "FILE", requires = "check", value_hint = ValueHint::FilePath)]
    pub(crate) budget: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rows: RowArgs,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Whether documents are taken that were edited.
    #[command(flatten)]
    pub(crate) edited: EditedArg,
    #[command(flatten)]
    pub(crate) formats: FormatArgs,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
    /// Results that are there already.
    #[command(flatten)]
    pub(crate) results: ResultsArg,
}
