//! What a session asks of a witness, and of QEMU for the witness's sake: the same windows, twice.

use std::fs::File;

use pathmeter_trace::Counting;
use pathmeter_vm::{
    Bochs, Execution, Landmarks, Parcel, PathOutcome, RanProgram, RecordingLimits, Stop,
    TracedWindow, VmError,
};

use super::{LONGEST_WINDOW, MOST_TRACED, Report, Session};
use crate::error::MeasureError;
use crate::path::rows::Counted;
use crate::subject::image::Image;

impl Session {
    /// What came of the paths that a witness is asked about, and what was counted, run anew.
    pub fn count(
        &self,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<(Vec<PathOutcome>, Counted), MeasureError> {
        let measured = self.with_request(image, progress, |request| {
            let plan = pathmeter_vm::witness_plan(request.settings);
            let request = request.as_in_bochs();
            pathmeter_vm::measure_plan(&request, (&plan, None), &pathmeter_trace::count)
        })?;
        let counts = measured.counts.map(|(order, counting)| Counted::new(&order, counting));
        Ok((measured.paths, counts.unwrap_or_else(|| Counted::new(&[], Counting::default()))))
    }

    /// What came of the same paths in Bochs.
    pub fn witness(
        &self,
        image: &Image,
        bochs: &Bochs,
        progress: Report<'_>,
    ) -> Result<Vec<PathOutcome>, MeasureError> {
        self.with_request(image, progress, |request| pathmeter_vm::witness(bochs, request))
    }

    /// Runs the program of `parcel` in Bochs, which stops at the landmarks.
    pub fn witness_program(
        &self,
        image: &Image,
        bochs: &Bochs,
        parcel: &Parcel,
        (runs, landmarks): (u32, &Landmarks),
        progress: Report<'_>,
    ) -> Result<RanProgram<Vec<Vec<Stop>>>, MeasureError> {
        self.with_request(image, progress, |request| {
            pathmeter_vm::witness_program(bochs, request, parcel, runs, landmarks.clone())
        })
    }

    /// The same of what a witness is asked about, in QEMU, the warm-up included.
    pub fn record_witnessed<R: Send>(
        &self,
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
        let recorded = self.with_request(image, progress, |request| {
            let plan = pathmeter_vm::witness_plan(request.settings);
            pathmeter_vm::record(&request.as_in_bochs(), &plan, &wanted, limits, read)
        })?;
        Ok(recorded.into_iter().map(|one| one.map(|recorded| recorded.trace)).collect())
    }

    /// What `read` makes of the traces of these windows in Bochs, run anew.
    pub fn witness_traced<R: Send>(
        &self,
        image: &Image,
        bochs: &Bochs,
        windows: &[TracedWindow],
        progress: Report<'_>,
        read: impl Fn(File) -> R + Sync,
    ) -> Result<Vec<R>, MeasureError> {
        self.with_request(image, progress, |request| {
            pathmeter_vm::witness_traced(bochs, request, windows, read)
        })
    }
}
