//! The arguments of `history`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use pathmeter_history::Date;

use crate::arguments::{DocumentArgs, EditedArg, GuestArgs};

const EXAMPLES: &str = "\
Results are in the order of their dates; those of one date in the order in which they were added.
docs/guide/history.md describes the database.

Examples:
  pathmeter measure bzImage -o new.json
  pathmeter history add new.json --commit $(git rev-parse HEAD) --date $(git show -s --format=%cI)
  pathmeter history show 'switch.*'                   a row a result, a column a path
  pathmeter history plot switch.yield --svg yield.svg
  pathmeter history blame switch.yield                which results changed it?
  pathmeter history blame switch.yield old.deb new.deb    and in which functions?
  pathmeter host -o today.times.json
  pathmeter history add today.times.json              times of this machine, of the session's date
  pathmeter history remove 3                          the result that `show` lists as 3
  pathmeter history prune --keep 1000 --dry-run
  pathmeter history export -o results/                each document as a file of this folder
  pathmeter history export -o all.jsonl               all in one file, a document a line";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub(crate) verb: HistoryVerb,
    /// The history; by default pathmeter/history.sqlite in `$XDG_DATA_HOME`, or in ~/.local/share
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) db: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryVerb {
    /// Keep results; one that is there already stays as it is
    Add(AddArgs),
    /// List the results: a row each, with a column for each path asked for
    Show(ShowArgs),
    /// Draw paths over all results, here or as SVG
    Plot(PlotArgs),
    /// Name the first result of each step of a path
    Blame(BlameArgs),
    /// Remove results by their numbers, such as one that was added with a wrong date
    Remove(RemoveArgs),
    /// Remove the oldest results
    Prune(PruneArgs),
    /// Give the documents back, as they were added
    Export(ExportArgs),
}

/// Which results of a history.
#[derive(Debug, Args)]
pub(crate) struct WhichArgs {
    /// Only the results with this label
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Files that `measure -o` wrote: counts, or times of this machine (also of several boots); a
    /// folder of a plan's results stands for all of them
    #[arg(required = true, value_name = "RESULT", value_hint = ValueHint::FilePath)]
    pub(crate) results: Vec<PathBuf>,
    /// What to call all of them; by default each has its subject's name
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
    /// The commit that the kernel was built from, the same for all RESULTs: 7 to 64 hexadecimal
    /// digits
    #[arg(long, value_name = "HASH", value_parser = commit)]
    pub(crate) commit: Option<String>,
    /// The date of all RESULTs: 2026-01-31, with a time and a zone as
    /// `git show -s --format=%cI` prints it, or @SECONDS since 1970. By default now, of times when
    /// the session began
    #[arg(long, value_name = "WHEN")]
    pub(crate) date: Option<Date>,
    /// Whether documents are taken that were edited.
    #[command(flatten)]
    pub(crate) edited: EditedArg,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Paths to show, names or patterns (`switch.*`): their values in each result
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Where the document goes, pathmeter.history/1.
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    #[command(flatten)]
    pub(crate) which: WhichArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Paths to draw: names or patterns (`switch.*`)
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Write SVG to FILE instead
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: WhichArgs,
}

#[derive(Debug, Args)]
#[command(mut_group("GuestArgs", |group| group.requires("kernels")))]
pub(crate) struct BlameArgs {
    /// The path
    pub(crate) path: String,
    /// Kernels: for the largest steps between results of two of them, the functions are named in
    /// which PATH changed; only PATH is executed again
    #[arg(value_name = "KERNEL", value_hint = ValueHint::FilePath)]
    pub(crate) kernels: Vec<PathBuf>,
    /// Also compare results that were measured differently
    #[arg(long)]
    pub(crate) across: bool,
    /// Where the document goes, pathmeter.blame/1.
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    #[command(flatten)]
    pub(crate) which: WhichArgs,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The numbers of the results, as `history show` lists them
    #[arg(required = true, value_name = "NUMBER", value_parser = number)]
    pub(crate) numbers: Vec<u64>,
    /// Remove nothing: only show what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub(crate) struct PruneArgs {
    /// Remove all but the last N results
    #[arg(long, value_name = "N", group = "what")]
    pub(crate) keep: Option<u64>,
    /// Remove the results of before DATE
    #[arg(long, value_name = "DATE", group = "what")]
    pub(crate) before: Option<Date>,
    /// Remove nothing: only show what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) which: WhichArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Write to FILE, a document a line; or, if it is a FOLDER that is there, each document to a
    /// file of its own in it
    ///
    /// Without it, or for -, the lines go to stdout. A FILE that is a document itself, such as a
    /// result, is not overwritten. In a folder the files are byte by byte what was added; in
    /// lines, a document that had line breaks has spaces instead.
    #[arg(long, short, value_name = "FILE|FOLDER", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) which: WhichArgs,
}

/// `3`, or `#3`.
fn number(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix('#').unwrap_or(text).parse();
    number.map_err(|_| "a number such as 3, from the first column of `history show`".to_owned())
}

fn commit(text: &str) -> Result<String, String> {
    let fits = (7..=64).contains(&text.len());
    if fits && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    Err("a commit is 7 to 64 hexadecimal digits, as from `git rev-parse`".to_owned())
}
