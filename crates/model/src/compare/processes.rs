//! All own work of each of a program's processes, as a row by the process's name.

use crate::{Measurement, PathResult};

/// The side with its processes for rows; None if it has none.
pub(super) fn as_rows(side: &Measurement) -> Option<Measurement> {
    let row = |process: &crate::ProcessResult| {
        let path = process.process.clone();
        Some(PathResult { path, ..process.own_work()?.clone() })
    };
    let paths: Vec<PathResult> = side.processes().iter().filter_map(row).collect();
    (!paths.is_empty()).then(|| Measurement { paths, ..side.clone() })
}
