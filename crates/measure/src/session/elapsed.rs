//! Elapsed time: what calls take by one CPU alone and by two at once, on the lab kernel.
//!
//! It depends on this host at this moment: never cached, never an instruction count, and only the
//! comparison of the two is meaningful. The caller should have nothing else running meanwhile.

use pathmeter_experiment::{Elapsed, ElapsedCell, ObservedCell};
use pathmeter_probes::{CALLS_PER_BATCH, Suite};
use pathmeter_vm::{PathOutcome, PathStatus, Progress, host_cpus};

use crate::error::MeasureError;
use crate::session::Session;
use crate::subject::image::Image;

/// Measures every path of [`Suite::Elapsed`] once, in a guest that is booted for it: (name,
/// result), in the suite's order. Where the host lets us use only one CPU, a guest's two CPUs take
/// turns, and their times mean nothing: then all are unsupported, and nothing is booted.
pub fn measure(
    session: &Session,
    image: &Image,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Vec<(&'static str, ElapsedCell)>, MeasureError> {
    if host_cpus() < 2 {
        let reason = "this host lets pathmeter use one CPU only, and two must run at once";
        let unsupported = |name| (name, ObservedCell::Unsupported(reason.to_owned()));
        return Ok(names().map(unsupported).collect());
    }
    let outcomes = session.measure_elapsed(image, progress)?;
    Ok(names().zip(outcomes.iter().map(cell)).collect())
}

/// The paths' names, in the order of [`Suite::Elapsed`].
pub fn names() -> impl Iterator<Item = &'static str> {
    Suite::Elapsed.paths().iter().map(|path| path.name)
}

fn cell(outcome: &PathOutcome) -> ElapsedCell {
    match &outcome.status {
        PathStatus::Unsupported(reason) => ObservedCell::Unsupported(reason.clone()),
        PathStatus::Failed(reason) => ObservedCell::Failed(reason.clone()),
        PathStatus::Ok => match times(&outcome.runs.concat()) {
            Some(elapsed) => ObservedCell::Measured(elapsed),
            None => ObservedCell::Failed("the guest reported a batch that took no time".to_owned()),
        },
    }
}

/// Summarises nanoseconds of batches, by one CPU and by two in turn. The times are the fastest
/// batches, since a disturbance only adds to one; the pairs' quartiles show how much was disturbed.
/// None if there is no pair, or an impossible one: the guest is not believed.
fn times(samples: &[u64]) -> Option<Elapsed> {
    let pairs = || samples.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    if pairs().any(|(one, _)| one == 0) {
        return None;
    }
    let mut percents: Vec<u64> = pairs().map(|(one, two)| percent(two, one)).collect();
    percents.sort_unstable();
    let quartile = |number: usize| percents.get(percents.len() * number / 4).copied();
    let (one, two) = (pairs().map(|pair| pair.0).min()?, pairs().map(|pair| pair.1).min()?);
    let a_call = |batch: u64| {
        batch.saturating_add(u64::from(CALLS_PER_BATCH) / 2) / u64::from(CALLS_PER_BATCH)
    };
    Some(Elapsed {
        one_ns: a_call(one),
        two_ns: a_call(two),
        percent: percent(two, one),
        low_percent: quartile(1)?,
        high_percent: quartile(3)?,
    })
}

/// `part` of `whole`, which is not 0, in percent, rounded; in 128 bits, so that neither is too
/// large.
fn percent(part: u64, whole: u64) -> u64 {
    let (part, whole) = (u128::from(part), u128::from(whole));
    u64::try_from((part * 100 + whole / 2) / whole).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BATCH: u64 = CALLS_PER_BATCH as u64;

    #[test]
    fn times_are_the_fastest_batches_and_quartiles_the_pairs() {
        // In the third pair the host was busy with something else.
        let pairs = [(100, 200), (110, 230), (1000, 4000), (100, 210), (95, 190)];
        let samples = pairs.map(|(one, two)| [one * BATCH, two * BATCH]).concat();
        let elapsed = times(&samples).unwrap();
        assert_eq!((elapsed.one_ns, elapsed.two_ns, elapsed.percent), (95, 190, 200));
        // 200, 209, 400, 210, 200, sorted.
        assert_eq!((elapsed.low_percent, elapsed.high_percent), (200, 210));
    }

    #[test]
    fn what_can_not_be_is_no_time() {
        assert_eq!(times(&[]), None);
        assert_eq!(times(&[5, 5, 0, 5]), None);
        assert_eq!(times(&[1, u64::MAX]).unwrap().percent, u64::MAX);
    }

    #[test]
    fn a_path_that_has_no_samples_says_why() {
        let outcome =
            |status| PathOutcome { status, checks: vec![], runs: vec![], lower_bounds: vec![] };
        let why = || "one CPU".to_owned();
        assert_eq!(
            cell(&outcome(PathStatus::Unsupported(why()))),
            ObservedCell::Unsupported(why())
        );
        assert_eq!(cell(&outcome(PathStatus::Failed(why()))), ObservedCell::Failed(why()));
        assert!(matches!(cell(&outcome(PathStatus::Ok)), ObservedCell::Failed(_)));
    }
}
