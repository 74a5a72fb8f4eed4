//! What `report` refuses before it reads a subject.

use super::args::ReportArgs;
use crate::command_line::given::{Given, Need, Needs};
use crate::failure::Failure;
use crate::results_folder::expanded;
use crate::screen::output::Screen;
use crate::subject_files::find_files;

/// What options need to change something.
pub(crate) const NEEDS: Needs = &[(&["across"], Need::Sides), (&["no_explain"], Need::Kernel)];

/// Refuses options that would change nothing, and finds the files of the subjects.
///
/// # Errors
/// There is such an option, no such kernel, or a folder that can't be read.
pub(super) fn find_subjects(
    args: &mut ReportArgs,
    given: &Given<'_>,
    screen: &Screen,
) -> Result<(), Failure> {
    args.edited.apply();
    given.refuse_idle(NEEDS)?;
    args.subjects = expanded(&args.subjects)?;
    find_files(&mut args.subjects, screen)?;
    args.guest.refuse_pairs()?;
    args.page().refuse_promise()
}
