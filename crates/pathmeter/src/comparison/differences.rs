//! In which functions two kernels differ, path by path.

use pathmeter_measure::error::MeasureError;
use pathmeter_measure::recording::cache::recordings;
use pathmeter_measure::recording::{Inlined, RecordablePath};
use pathmeter_measure::session::Session;
use pathmeter_measure::subject::image::Image;
use pathmeter_measure::threads::at_once;
use pathmeter_trace::{Explain, SubjectWindow};
use pathmeter_vm::Progress;

use crate::failure::Failure;
use crate::screen::progress::{Board, Line};

/// Records `paths` of both kernels at once, in a guest each, and finds what they do differently:
/// one for each path, in their order. Inlined functions are told apart if both kernels have debug
/// information: what one has of its own and the other one does not would seem to differ.
///
/// # Errors
/// For all paths, what stands in the way of all.
pub(crate) fn differences(
    session: &Session,
    [base, new]: [&Image; 2],
    paths: &[RecordablePath<'_>],
    board: &Board,
) -> Result<Vec<Result<Explain, Failure>>, Failure> {
    let line = |role: &str, image: &Image| board.line(format!("{role} {}", image.subject().name));
    let lines = (line("base", base), line("new", new));
    let debug = at_once(
        || base.debug_info(&|progress| lines.0.show(progress)),
        || new.debug_info(&|progress| lines.1.show(progress)),
    );
    let (of_base, of_new) = Failure::both(debug.0, debug.1)?;
    let both = of_base.is_some() && of_new.is_some();
    let inlined = if both { Inlined::Apart } else { Inlined::InCallers };
    let base = Side { image: base, inlined, line: lines.0 };
    let new = Side { image: new, inlined, line: lines.1 };
    // A thread each, which outlives the guest that it starts: QEMU is killed when that thread ends.
    let windows = at_once(|| base.windows(session, paths), || new.windows(session, paths));
    let (base, new) = Failure::both(windows.0, windows.1)?;
    let explain = |(base, new)| {
        let (base, new) = Failure::both(base, new)?;
        Ok(Explain::new(base, Some(new)))
    };
    Ok(base.into_iter().zip(new).map(explain).collect())
}

/// A kernel that is recorded.
pub(crate) struct Side<'a> {
    pub(crate) image: &'a Image,
    pub(crate) inlined: Inlined,
    pub(crate) line: Line<'a>,
}

impl Side<'_> {
    /// The window that stands for all that were recorded, of each path.
    pub(crate) fn windows(
        &self,
        session: &Session,
        paths: &[RecordablePath<'_>],
    ) -> Result<Vec<Result<SubjectWindow, MeasureError>>, MeasureError> {
        let progress = |progress: Progress<'_>| self.line.show(progress);
        recordings(session, self.image, self.inlined, paths, &progress)
    }
}
