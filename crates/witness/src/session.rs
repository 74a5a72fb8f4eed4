//! What a session asks of a witness, and of QEMU for the witness's sake: the same windows, twice.

use std::fs::File;

use pathmeter_measure::error::MeasureError;
use pathmeter_measure::path::rows::Counted;
use pathmeter_measure::session::{LONGEST_WINDOW, MOST_TRACED, Report, Session};
use pathmeter_measure::subject::image::Image;
use pathmeter_trace::Counting;
use pathmeter_vm::{Execution, Parcel, PathOutcome, RanProgram, RecordingLimits, VmError};

use crate::bochs::Bochs;
use crate::bochs::suite::{self, witness_plan};
use crate::bochs::traces::TracedWindow;
use crate::bochs::watch::{Landmarks, Stop};

/// What came of the paths that a witness is asked about, and what was counted, run anew.
pub(crate) fn count(
    session: &Session,
    image: &Image,
    progress: Report<'_>,
) -> Result<(Vec<PathOutcome>, Counted), MeasureError> {
    let measured = session.with_request(image, progress, |request| {
        let plan = witness_plan(request.settings);
        let request = request.with_parcel_at_boot();
        pathmeter_vm::measure_plan(&request, (&plan, None), &pathmeter_trace::count)
    })?;
    let counts = measured.counts.map(|(order, counting)| Counted::new(&order, counting));
    Ok((measured.paths, counts.unwrap_or_else(|| Counted::new(&[], Counting::default()))))
}

/// What came of the same paths in Bochs.
pub(crate) fn witness(
    session: &Session,
    image: &Image,
    bochs: &Bochs,
    progress: Report<'_>,
) -> Result<Vec<PathOutcome>, MeasureError> {
    session.with_request(image, progress, |request| suite::witness(bochs, request))
}

/// Runs the program of `parcel` in Bochs, which stops at the landmarks.
pub(crate) fn witness_program(
    session: &Session,
    image: &Image,
    bochs: &Bochs,
    parcel: &Parcel,
    (runs, landmarks): (u32, &Landmarks),
    progress: Report<'_>,
) -> Result<RanProgram<Vec<Vec<Stop>>>, MeasureError> {
    session.with_request(image, progress, |request| {
        suite::witness_program(bochs, request, parcel, runs, landmarks.clone())
    })
}

/// The same of what a witness is asked about, in QEMU, the warm-up included.
pub(crate) fn record_witnessed<R: Send>(
    session: &Session,
    image: &Image,
    paths: &[usize],
    progress: Report<'_>,
    read: impl Fn(usize, File) -> R + Sync,
) -> Result<Vec<Result<R, VmError>>, MeasureError> {
    let (bytes, most) = (MOST_TRACED, LONGEST_WINDOW);
    let limits = RecordingLimits { skip: 0, warm: 0, windows: 0, bytes, most };
    let wanted: Vec<Execution> =
        paths.iter().map(|path| Execution { run: 0, path: *path }).collect();
    let read = |execution: Execution, trace| read(execution.path, trace);
    let recorded = session.with_request(image, progress, |request| {
        let plan = witness_plan(request.settings);
        pathmeter_vm::record(&request.with_parcel_at_boot(), &plan, &wanted, limits, read)
    })?;
    Ok(recorded.into_iter().map(|one| one.map(|recorded| recorded.trace)).collect())
}

/// What `read` makes of the traces of these windows in Bochs, run anew.
pub(crate) fn witness_traced<R: Send>(
    session: &Session,
    image: &Image,
    bochs: &Bochs,
    windows: &[TracedWindow],
    progress: Report<'_>,
    read: impl Fn(File) -> R + Sync,
) -> Result<Vec<R>, MeasureError> {
    session.with_request(image, progress, |request| {
        suite::witness_traced(bochs, request, windows, read)
    })
}
