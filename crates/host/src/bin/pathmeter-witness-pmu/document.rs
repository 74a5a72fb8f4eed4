//! The document `pathmeter.witness-pmu/1`: what the counter said of each path, beside the exact
//! result. It is written only, and read by people.

use pathmeter_model::{Estimate, Measurement, PathResult};
use pathmeter_probes::clock::{COUNTER_ADDS, STRAIGHT};
use pathmeter_probes::{Path, Suite};
use pathmeter_trace::Event;
use serde::Serialize;

use crate::failure::Failure;
use crate::lines::{Came, Pass};
use crate::program::{Counter, Passes};
use pathmeter_model::Host;

/// Nops of the longer windows written out by hand.
const NOPS: u64 = 100;

/// The document: what was counted beside what is exact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Witness {
    pub(crate) schema: &'static str,
    pub(crate) counter: Counter,
    pub(crate) machine: Host,
    /// Whether the passes were in the root cgroup.
    pub(crate) root_cgroup: bool,
    /// How often each pass was executed.
    pub(crate) runs: usize,
    /// What was subtracted of each sample.
    pub(crate) subtracted: Subtracted,
    pub(crate) exact: ExactResult,
    /// One a path of the catalogue, in its order.
    pub(crate) paths: Vec<Row>,
}

/// What was subtracted of each sample, in instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Subtracted {
    /// How much longer the stamps are than the agent's own, in user mode and in both modes.
    pub(crate) stamps: u64,
    /// What the counter said too much of a window of known length, in user mode.
    pub(crate) user: i64,
    /// What the counter said too much of such a window, in the kernel.
    pub(crate) kernel: i64,
    /// What the counter said too much of such a window, in both modes together.
    pub(crate) both: i64,
}

/// The exact result that the counts are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ExactResult {
    /// The name of the kernel's image.
    pub(crate) subject: String,
    /// The kernel's release, if it is known.
    pub(crate) release: Option<String>,
    pub(crate) image_sha256: String,
    /// The CPU that the guest had.
    pub(crate) cpu: String,
    pub(crate) agent_sha256: String,
}

/// What is known of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    pub(crate) path: &'static str,
    pub(crate) counted: Counted,
    /// What is exact; or why there is nothing.
    pub(crate) exact: Result<Exact, String>,
    /// Passes in which it failed while it was counted in others, and the first one's reason.
    pub(crate) failed: Option<(usize, String)>,
}

/// What the counter said of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Counted {
    /// In each of the three sets of modes.
    Ok(Box<[Estimate; 3]>),
    /// This processor or kernel can't execute it.
    Unsupported(String),
    /// In one set of modes there are no samples.
    Failed(String),
    /// It is not executed on a machine in use.
    LeftOut(String),
}

/// The exact instructions of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Exact {
    /// The row's number in user mode.
    pub(crate) user: u64,
    /// The same in the kernel.
    pub(crate) kernel: u64,
    /// Different pairs of the two among the samples.
    pub(crate) pairs: usize,
}

impl Witness {
    /// Puts the passes and the exact result side by side.
    pub(crate) fn new(
        counter: Counter,
        machine: Host,
        passes: &Passes,
        exact: &Measurement,
    ) -> Result<Self, Failure> {
        let subtracted = match counter {
            Counter::Processor => Subtracted::of(passes)?,
            Counter::Clock => Subtracted::default(),
        };
        let paths = Suite::Exact.paths().iter().enumerate();
        let rows = paths.map(|(index, path)| Row::new(index, path, passes, subtracted, exact));
        Ok(Self {
            schema: "pathmeter.witness-pmu/1",
            counter,
            machine,
            root_cgroup: passes.user.iter().all(|pass| pass.root_cgroup),
            runs: passes.user.len(),
            subtracted,
            exact: ExactResult::of(exact),
            paths: rows.collect(),
        })
    }
}

impl Subtracted {
    /// By the windows of known length; refused if the counter does not count their nops.
    fn of(passes: &Passes) -> Result<Self, Failure> {
        Ok(Self {
            stamps: COUNTER_ADDS,
            user: excess(&passes.user, "user mode", STRAIGHT, NOPS)?,
            kernel: excess(&passes.kernel, "the kernel", 0, 0)?,
            both: excess(&passes.both, "both", STRAIGHT, NOPS)?,
        })
    }
}

/// What the counter says too much of a window of `length` instructions.
fn excess(passes: &[Pass], modes: &'static str, length: u64, nops: u64) -> Result<i64, Failure> {
    let [short, long] = [0, 1].map(|which| {
        let samples = passes.iter().flat_map(|pass| &pass.straight[which]).copied();
        Estimate::of(&samples.collect::<Vec<_>>()).map_or(0, |estimate| estimate.value)
    });
    let counted = long.wrapping_sub(short).cast_signed();
    if counted != nops.cast_signed() {
        return Err(Failure::Miscounts { modes, nops, counted });
    }
    Ok(short.wrapping_sub(length).cast_signed())
}

impl ExactResult {
    fn of(exact: &Measurement) -> Self {
        let configuration = &exact.configuration;
        Self {
            subject: exact.subject.name.clone(),
            release: configuration.release.clone(),
            image_sha256: configuration.image_sha256.clone(),
            cpu: configuration.cpu.clone(),
            agent_sha256: configuration.agent_sha256.clone(),
        }
    }
}

impl Row {
    fn new(
        index: usize,
        path: &'static Path,
        passes: &Passes,
        subtracted: Subtracted,
        exact: &Measurement,
    ) -> Self {
        let Subtracted { stamps, user, kernel, both } = subtracted;
        let stamps = stamps.cast_signed();
        let modes = [
            estimate_mode(&passes.user, index, stamps.saturating_add(user)),
            estimate_mode(&passes.kernel, index, kernel),
            estimate_mode(&passes.both, index, stamps.saturating_add(both)),
        ];
        let failed = modes.iter().map(|mode| mode.failed).sum();
        let reason = modes.iter().find_map(|mode| mode.reason.clone());
        let counted = match modes.map(|mode| mode.estimate) {
            [Ok(user), Ok(kernel), Ok(both)] => Counted::Ok(Box::new([user, kernel, both])),
            [Err(without), ..] | [_, Err(without), _] | [.., Err(without)] => without,
        };
        let result = exact.paths.iter().find(|result| result.path == path.name);
        let failed = reason.filter(|_| matches!(counted, Counted::Ok(_))).map(|r| (failed, r));
        Self { path: path.name, counted, exact: exact_of(result), failed }
    }
}

/// A path in one set of modes, over all runs.
struct Mode {
    /// Of the samples of all runs that have them, less what is subtracted.
    estimate: Result<Estimate, Counted>,
    /// Runs in which it failed.
    failed: usize,
    /// Why, in the first of them.
    reason: Option<String>,
}

fn estimate_mode(passes: &[Pass], index: usize, subtracted: i64) -> Mode {
    let mut mode = Mode { estimate: Err(missing()), failed: 0, reason: None };
    let mut samples = Vec::new();
    for came in passes.iter().filter_map(|pass| pass.paths.get(index)) {
        match came {
            Came::Samples(more) => samples.extend_from_slice(more),
            Came::LeftOut(reason) => mode.estimate = Err(Counted::LeftOut(reason.clone())),
            Came::Unsupported(reason) => mode.estimate = Err(Counted::Unsupported(reason.clone())),
            Came::Failed(reason) => {
                mode.failed += 1;
                mode.reason.get_or_insert_with(|| reason.clone());
                mode.estimate = Err(Counted::Failed(reason.clone()));
            }
        }
    }
    let left: Option<Vec<u64>> = samples
        .iter()
        .map(|sample| sample.checked_add_signed(subtracted.saturating_neg()))
        .collect();
    match left.as_deref().map(Estimate::of) {
        Some(Some(estimate)) => mode.estimate = Ok(estimate),
        Some(None) => {}
        None => mode.estimate = Err(Counted::Failed("it counted less than the stamps have".into())),
    }
    mode
}

fn missing() -> Counted {
    Counted::Failed("no pass has it".into())
}

fn exact_of(result: Option<&PathResult>) -> Result<Exact, String> {
    let result = result.ok_or("the exact result does not have it; measure again")?;
    let without = || result.reason.clone().unwrap_or_else(|| "it was not counted".into());
    let events = result.events.as_ref().ok_or_else(without)?;
    let (user, kernel) = (events.value(Event::User), events.value(Event::Kernel));
    let column = |event: Event| events.names.iter().position(|name| name == event.word());
    let columns = [Event::User, Event::Kernel].map(column);
    let number = |row: &Vec<u64>, at: Option<usize>| at.and_then(|at| row.get(at).copied());
    let mut pairs: Vec<_> =
        events.distinct.iter().map(|row| columns.map(|at| number(row, at))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    Ok(Exact { user, kernel, pairs: pairs.len() })
}

#[cfg(test)]
mod tests;
