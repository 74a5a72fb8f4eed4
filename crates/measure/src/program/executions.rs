//! The executions of a region of a program, or of a window between two points of the kernel.

use pathmeter_model::{Check, PathEvents, PathResult, Unit};
use pathmeter_trace::{Event, Events, RegionWindow};

/// A region or window with these executions, run by run, and what was counted of each: its events,
/// of which those in `named` are told even if there were none.
pub(super) fn gather_executions(
    name: &str,
    runs: &[Vec<RegionWindow>],
    named: &[Event],
    checks: Vec<Check>,
) -> PathResult {
    let instructions = |run: &Vec<RegionWindow>| run.iter().map(|one| one.instructions).collect();
    let samples: Vec<Vec<u64>> = runs.iter().map(instructions).collect();
    let events: Vec<Events> = runs.iter().flatten().map(RegionWindow::all_events).collect();
    let events = PathEvents::naming(named, events.iter(), Vec::new());
    PathResult::ok(name, Unit::Instructions, &samples, checks).counting(events)
}
