//! What `bisect` refuses before the first kernel is measured.

use std::path::PathBuf;

use pathmeter_measure::subject::lab_words;

use super::args::BisectArgs;
use crate::command_line::given::{Given, Need, Needs};
use crate::failure::Failure;
use crate::results_folder::expanded;
use crate::screen::output::Screen;
use crate::setup::open_results;
use crate::subject_files::find_files;

/// What options need to change something.
pub(crate) const NEEDS: Needs = &[
    (&["image", "build_timeout"], Need::Given("good")),
    (&["FilesArgs"], Need::Given("program")),
    (&["program"], Need::Kernel),
];

/// Finds the files of the kernels, and refuses what can't be had.
///
/// # Errors
/// There is an option that would change nothing, no such kernel, or a path that is a pattern.
pub(super) fn find_kernels(
    args: &mut BisectArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<(), Failure> {
    args.edited.apply();
    given.refuse_idle(NEEDS)?;
    args.kernels = expanded(&args.kernels)?;
    find_files(&mut args.kernels, screen)?;
    open_results(&args.results, &mut args.guest)?;
    args.guest.refuse_pairs()?;
    refuse_misspelt(args)
}

/// Refuses files that are not there, and patterns: each would be found out only in the search.
fn refuse_misspelt(args: &BisectArgs) -> Result<(), Failure> {
    let is_lost = |kernel: &&PathBuf| lab_words(kernel).is_none() && !kernel.exists();
    let lost: Vec<String> =
        args.kernels.iter().filter(is_lost).map(|kernel| kernel.display().to_string()).collect();
    let (message, help) = if !lost.is_empty() {
        (format!("there is no file {}", lost.join(", ")), "name kernels or results, in order")
    } else if args.path.contains(['*', '?']) {
        let message = format!("--path {}: one path, not a pattern", args.path);
        (message, "`pathmeter list paths` lists all paths, `pathmeter run --all` shows all rows")
    } else {
        return Ok(());
    };
    Err(Failure::Usage { message, help: help.to_owned() })
}
