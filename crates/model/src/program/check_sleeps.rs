//! Checks of the sleeps of a program's result that came from outside: sizes are bounded, and each
//! has the numbers of every run.

use std::collections::HashSet;

use pathmeter_trace::RowKind;

use crate::reading::bounds::{bounded, field, quoted};
use crate::reading::limits::{MAX_NAME_BYTES, MAX_SAMPLE};
use crate::{Measurement, ParseError, SleepResult};

/// Most sleeps in a program's result.
const MAX_SLEEPS: usize = 1 << 13;

/// Checks what the result has of sleeps.
///
/// # Errors
/// Any [`ParseError`]: it names what is wrong and what to do.
pub(crate) fn check_sleeps(result: &Measurement) -> Result<(), ParseError> {
    let Some(execution) = &result.execution else { return Ok(()) };
    bounded("number of sleeps", execution.sleeps.len(), MAX_SLEEPS)?;
    let mut seen = HashSet::new();
    for (at, sleep) in execution.sleeps.iter().enumerate() {
        let names = [Some(&sleep.slept_in), sleep.process.as_ref(), Some(&sleep.woken_by.work)];
        for name in names.into_iter().flatten().chain(&sleep.woken_by.process) {
            bounded("length of a name of a sleep in bytes", name.len(), MAX_NAME_BYTES)?;
        }
        let place = format!("execution.sleeps[{at}]");
        check_sleep(sleep, execution.runs.len()).map_err(|what| field(&place, &what))?;
        if !seen.insert((sleep.kind, &sleep.slept_in, &sleep.process, &sleep.woken_by)) {
            let what = format!("that in {} is there twice", quoted(&sleep.slept_in));
            return Err(field(&place, &what));
        }
    }
    Ok(())
}

/// That it is where a program may sleep, and has the numbers of so many runs.
fn check_sleep(sleep: &SleepResult, runs: usize) -> Result<(), String> {
    if !(sleep.kind.is_own_work() || sleep.kind == RowKind::Region) {
        return Err("it is in no row of own work, and in no region".to_owned());
    }
    let lengths = [sleep.sleeps.len(), sleep.steps_to_run.len(), sleep.idle.len()];
    if lengths != [runs; 3] {
        return Err(format!("it does not have the numbers of {runs} runs"));
    }
    let numbers = sleep.sleeps.iter().chain(&sleep.steps_to_run).chain(sleep.idle.iter().flatten());
    if numbers.copied().any(|number| number > MAX_SAMPLE) {
        return Err(format!("it has a number above {MAX_SAMPLE}"));
    }
    Ok(())
}
