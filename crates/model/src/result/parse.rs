//! Reading a result back.
//!
//! A result file comes from outside: it may be truncated, edited, hostile or of another version.
//! Everything that the rest of the program relies on is checked here, once: sizes are bounded, the
//! estimates follow from the samples, every path has one row. Nothing in a file makes this panic.

use crate::program::check::check_execution;
use crate::program::check_processes::check_processes;
use crate::program::check_sleeps::check_sleeps;
use crate::reading::bounds::{OF_RESULTS, bounded, check_names, field, first_complaint, quoted};
use crate::reading::read::read;
use crate::{
    Estimate, GuestReport, Inconsistency, MAX_SAMPLE, MAX_SAMPLES, MAX_SAMPLES_PER_PATH,
    Measurement, ParseError, PathResult, Status, Unit,
};

/// Reads a result from the bytes of a file.
///
/// # Errors
/// Any [`ParseError`]: it names what is wrong and what to do. The caller adds the file's name.
pub fn parse_measurement(bytes: &[u8]) -> Result<Measurement, ParseError> {
    let mut measurement: Measurement = read(bytes, "pathmeter.result/1")?;
    let clock = measurement.configuration.clock;
    check_paths(&mut measurement.paths, clock)?;
    check_execution(&measurement)?;
    let execution = measurement.execution.iter_mut();
    for process in execution.flat_map(|execution| &mut execution.processes) {
        check_paths(&mut process.rows, clock)?;
        for thread in &mut process.by_thread {
            check_paths(&mut thread.rows, clock)?;
        }
    }
    check_processes(&measurement)?;
    check_sleeps(&measurement)?;
    if measurement.guest.as_ref().is_some_and(GuestReport::has_control_characters) {
        return Err(field("guest", "a text has control characters"));
    }
    Ok(measurement)
}

/// Checks paths that were measured by `clock`, and gives each the value of its row by the rule of
/// this version.
fn check_paths(paths: &mut [PathResult], clock: Unit) -> Result<(), ParseError> {
    let names = paths.iter().map(|path| &*path.path);
    check_names(names, OF_RESULTS)?;
    check_sizes(paths)?;
    for path in paths {
        let inconsistent = |what| ParseError::Inconsistent { path: quoted(&path.path), what };
        check_consistency(path, clock).map_err(inconsistent)?;
        path.estimate = Estimate::of(&path.samples);
    }
    Ok(())
}

fn check_sizes(paths: &[PathResult]) -> Result<(), ParseError> {
    let mut total = 0;
    for PathResult { path, samples, .. } in paths {
        let of_path = |what: &str| format!("{what} of path {}", quoted(path));
        bounded(&of_path("number of samples"), samples.len(), MAX_SAMPLES_PER_PATH)?;
        let largest = samples.iter().copied().max().unwrap_or(0);
        if largest > MAX_SAMPLE {
            let what = of_path("a sample");
            return Err(ParseError::TooLarge { what, found: largest, limit: MAX_SAMPLE });
        }
        total += samples.len();
    }
    bounded("number of samples", total, MAX_SAMPLES)
}

fn check_consistency(path: &PathResult, clock: Unit) -> Result<(), Inconsistency> {
    let sum: u64 = path.samples_per_run.iter().map(|&samples| u64::from(samples)).sum();
    let (is_ok, is_check) = (path.status == Status::Ok, path.unit == Unit::Check);
    let samples = path.samples.len();
    let other =
        path.events.as_ref().is_some_and(|events| !events.is_consistent_with(&path.samples));
    let estimated = match (&path.estimate, Estimate::of(&path.samples)) {
        (Some(read), Some(own)) => read.is_of(&own),
        (read, own) => read.is_none() && own.is_none(),
    };
    let complaints = [
        (sum != samples as u64, Inconsistency::Runs { sum, samples }),
        (!are_positions(&path.lower_bounds, samples), Inconsistency::LowerBounds),
        (!estimated, Inconsistency::Estimate),
        (is_ok && !is_check && samples == 0, Inconsistency::NoSamples),
        (is_check && samples > 0, Inconsistency::SampledCheck),
        (other, Inconsistency::Events),
        (![Unit::Check, Unit::Clock, clock].contains(&path.unit), Inconsistency::Unit),
        (!is_ok && path.reason.is_none(), Inconsistency::NoReason),
    ];
    first_complaint(complaints).map_or(Ok(()), Err)
}

/// Whether `positions` ascend and are below `length`.
fn are_positions(positions: &[u32], length: usize) -> bool {
    positions.is_sorted_by(|one, next| one < next)
        && positions.last().is_none_or(|&last| (last as usize) < length)
}
