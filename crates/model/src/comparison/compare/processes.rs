//! All own work of each of a program's processes, as a row by the process's name.

use crate::{Measurement, PathResult, ProcessResult};

/// The sides with their processes for rows; None if one of them has only one. Two programs are two
/// names of one first process, so that their other processes are compared: they have new's.
pub(super) fn as_rows(base: &Measurement, new: &Measurement) -> Option<[Measurement; 2]> {
    let several = |side: &'_ Measurement| side.processes().len() > 1;
    if !several(base) || !several(new) {
        return None;
    }
    let [of_base, of_new] = [base, new].map(|side| side.processes().first());
    let (of_base, of_new) = (&of_base?.process, &of_new?.process);
    let renamed = |process: &str| match process.strip_prefix(of_base.as_str()) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{of_new}{rest}"),
        _ => process.to_owned(),
    };
    Some([with_rows(base, renamed), with_rows(new, str::to_owned)])
}

fn with_rows(side: &Measurement, name: impl Fn(&str) -> String) -> Measurement {
    let row = |process: &ProcessResult| {
        Some(PathResult { path: name(&process.process), ..process.own_work()?.clone() })
    };
    let paths = side.processes().iter().filter_map(row).collect();
    Measurement { paths, ..side.clone() }
}
