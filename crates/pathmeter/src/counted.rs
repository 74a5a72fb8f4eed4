//! What the counter saw of a guest, put to the samples that the agent took of it.
//!
//! Contract: each sampled window that the counter saw has as many steps of the clock as the sample;
//! a path of which one has not is failed.

use std::collections::HashMap;

use pathmeter_catalogue::{Kind, Suite, WARMUP};
use pathmeter_model::PathEvents;
use pathmeter_trace::{Counting, Event, WindowEvents};
use pathmeter_vm::{Execution, PathOutcome};

/// The windows of a guest, path by path.
pub(crate) struct Counted {
    counting: Counting,
    /// By the path's index: the executions of it, run by run, as places in the counting.
    executions: HashMap<usize, Vec<usize>>,
}

/// What was counted of a path: the retired instructions of each sample, and everything.
pub(crate) struct PathCounts {
    /// Run by run, as the path's samples are.
    pub(crate) retired: Vec<Vec<u64>>,
    /// Of the samples.
    pub(crate) events: PathEvents,
}

impl Counted {
    /// What was counted while paths were executed in this order.
    pub(crate) fn new(order: &[Execution], counting: Counting) -> Self {
        let mut executions: HashMap<usize, Vec<usize>> = HashMap::new();
        for (marker, execution) in order.iter().enumerate() {
            executions.entry(execution.path).or_default().push(marker);
        }
        Self { counting, executions }
    }

    /// What was counted of the path with this index in [`Suite::Exact`], with this outcome; None for
    /// a path that is not measured in windows.
    ///
    /// # Errors
    /// What the counter saw is not what the clock says.
    pub(crate) fn of(
        &self,
        index: usize,
        outcome: &PathOutcome,
    ) -> Option<Result<PathCounts, String>> {
        match Suite::Exact.paths().get(index)?.kind {
            Kind::Windows(_) => Some(self.counts(index, outcome)),
            Kind::Check | Kind::SoftirqWait(_) | Kind::TwoCpus(_) | Kind::Batches(_) => None,
        }
    }

    fn counts(&self, index: usize, outcome: &PathOutcome) -> Result<PathCounts, String> {
        let executions = self.executions.get(&index).map(Vec::as_slice).unwrap_or_default();
        let mut windows = Vec::new();
        let mut retired = Vec::new();
        for (samples, execution) in outcome.runs.iter().zip(executions) {
            let seen = self.windows(*execution)?;
            if seen.len() != samples.len() {
                let (seen, samples) = (seen.len(), samples.len());
                return Err(format!("the counter saw {seen} windows of {samples}"));
            }
            for (window, clock) in seen.iter().zip(samples) {
                check(window, *clock)?;
            }
            retired.push(seen.iter().map(|window| window.events.retired()).collect());
            windows.extend(seen);
        }
        let placement = windows.first().map(|window| window.entries.clone()).unwrap_or_default();
        let events = PathEvents::new(windows.iter().map(|window| &window.events), placement);
        Ok(PathCounts { retired, events })
    }

    /// The windows of one execution that were sampled: those after the warm-up.
    fn windows(&self, execution: usize) -> Result<Vec<&WindowEvents>, String> {
        let Some(windows) = self.counting.paths.get(execution) else {
            return Err(match &self.counting.fault {
                Some(fault) => fault.to_string(),
                None => "the counter did not see it".to_owned(),
            });
        };
        let known = |window: &Option<u32>| self.counting.distinct.get((*window)? as usize);
        let sampled = windows.iter().skip(WARMUP as usize);
        sampled
            .map(|window| known(window).ok_or_else(|| "a window was too long to count".to_owned()))
            .collect()
    }
}

/// Instructions and further iterations are the steps of the clock.
fn check(window: &WindowEvents, clock: u64) -> Result<(), String> {
    let counted = window.events.of(Event::Clock);
    if counted == clock {
        return Ok(());
    }
    let open = match window.open {
        0 => String::new(),
        open => format!(" ({open} exceptions in it did not return)"),
    };
    Err(format!("the counter saw {counted} steps of a window, the clock {clock}{open}"))
}
