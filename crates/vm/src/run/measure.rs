//! One kernel, measured: from its image, or its snapshot, to the outcomes of all paths.

use std::fs::File;
use std::sync::Arc;

use pathmeter_probes::Suite;
use pathmeter_wire::plan::Execution;

use crate::{
    Facts, Firmware, Parcel, PathOutcome, Plan, Progress, Proof, Request, Settings, VmError,
    guest::channels::QemuGuest,
    guest::{Extra, Guest},
    machine::{Clock, initramfs::may_lose},
    run::{
        agent_run::{AgentEvent, AgentRun},
        counter::Counter,
        outcome::Gathered,
        ready::{boot_whole, go_on, snapshot},
        request::path_name,
        snapshot::{Description, Snapshot},
    },
};

/// What came of measuring a kernel.
#[derive(Debug)]
pub struct MeasuredKernel<C> {
    /// The kernel's release, as its image says.
    pub release: Option<String>,
    pub firmware: Firmware,
    /// What it printed about its CPU.
    pub facts: Facts,
    /// What became of the settings of its condition.
    pub proofs: Vec<Proof>,
    /// What came of each path, in the request's order.
    pub paths: Vec<PathOutcome>,
    /// The executions of paths in their order, and what was made of the counter's stream; None if
    /// QEMU takes no plugin.
    pub counts: Option<(Vec<Execution>, C)>,
    /// The paths, by index, in which the guest exceeded its limit: this machine's time decides it.
    pub late: Vec<usize>,
    /// What the reader must know: kernels that died, and where.
    pub notes: Vec<String>,
}

/// The snapshot that guests with `plan` are restored from, for several of these to begin with:
/// from the cache, or of a guest that is booted. None if they are not handed their plan, or are
/// not restored: those with several CPUs go on where they have booted.
pub fn share_snapshot(
    request: &Request<'_>,
    plan: &Plan,
) -> Result<Option<Arc<Snapshot>>, VmError> {
    let parcel = request.parcel_of(plan);
    if request.settings.cpus > 1 || !parcel.is_handed_over() {
        return Ok(None);
    }
    snapshot::<QemuGuest>(request.qemu, request, &parcel).map(|it| Some(Arc::new(it)))
}

/// Measures one kernel with this plan, restored from `snapshot`, if there is one already. The paths
/// that the plan leaves out have failed. `read` is handed the counter's stream as it comes, on a
/// thread of its own; it should read to the end, and what it returns is handed back.
pub fn measure_plan<C: Send>(
    request: &Request<'_>,
    (plan, snapshot): (&Plan, Option<Arc<Snapshot>>),
    read: &(dyn Fn(File) -> C + Sync),
) -> Result<MeasuredKernel<C>, VmError> {
    let counter = Counter::of(request, read)?;
    measure_in::<QemuGuest, C>(request.qemu, request, (plan, snapshot), &counter)
}

fn measure_in<G: Guest, C: Send>(
    host: &G::Host,
    request: &Request<'_>,
    (all, mut last): (&Plan, Option<Arc<Snapshot>>),
    counter: &Counter<'_, C>,
) -> Result<MeasuredKernel<C>, VmError> {
    let mut lost: Vec<(usize, VmError)> = Vec::new();
    loop {
        let plan = lost.iter().fold(all.clone(), |plan, (index, _)| plan.without(*index));
        let parcel = request.parcel_of(&plan);
        let (Attempt { ran, snapshot }, counts) = counter.with_guest(|extra| {
            let last = last.take();
            attempt::<G>(host, request, (&parcel, &plan), last, extra)
        })?;
        match ran {
            Ok((about, gathered)) => {
                let counts = counts.map(|counts| (gathered.executed().to_vec(), counts));
                return Ok(conclude(about, gathered, counts, lost));
            }
            Err(error)
                if error.unrestored().is_some()
                    && snapshot.as_ref().is_some_and(|snapshot| snapshot.forget(request)) =>
            {
                let how = error.unrestored().unwrap_or_default();
                let note = format!("the cached snapshot can't be restored ({how}); booting again");
                (request.progress)(Progress::Note(&note));
            }
            Err(error) => match error.in_path() {
                Some(index) if may_lose(&plan, lost.len(), index) => {
                    (request.progress)(Progress::Note(&format!(
                        "{error}; measuring the other paths without it"
                    )));
                    lost.push((index, error));
                    last = snapshot.filter(|_| parcel.is_handed_over());
                }
                _ => return Err(error),
            },
        }
    }
}

fn conclude<C>(
    about: Description,
    mut gathered: Gathered,
    counts: Option<(Vec<Execution>, C)>,
    lost: Vec<(usize, VmError)>,
) -> MeasuredKernel<C> {
    let (mut late, mut notes) = (Vec::new(), Vec::new());
    for (index, error) in lost {
        late.extend(error.is_late().then_some(index));
        let reason = format!("the kernel did not survive it: {error}");
        notes.push(format!("{}: {reason}", path_name(Suite::Exact, index)));
        gathered.mark_lost(index, reason);
    }
    MeasuredKernel {
        release: about.release,
        firmware: about.firmware,
        facts: about.facts,
        proofs: about.proofs,
        paths: gathered.finish(),
        counts,
        late,
        notes,
    }
}

/// Runs the paths of [`Suite::Elapsed`] once, in the host's time, the guest's CPUs running at once
/// where the host lets them: what came of each, in the order of the suite.
///
/// The kernel is booted afresh, since a snapshot would be of another clock, and runs on where it
/// was READY. Samples are what the guest's own clock said, in nanoseconds.
pub fn measure_elapsed(request: &Request<'_>) -> Result<Vec<PathOutcome>, VmError> {
    measure_elapsed_in::<QemuGuest>(request.qemu, request)
}

fn measure_elapsed_in<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
) -> Result<Vec<PathOutcome>, VmError> {
    let plan = Plan::new(Suite::Elapsed, 1);
    let settings = Settings { clock: Clock::Host, ..request.settings.clone() };
    let parcel = Parcel::of_paths(&plan, &settings.condition);
    let (guest, _) = boot_whole::<G>(host, request, &settings, &parcel, Extra::default())?;
    Ok(run_all(AgentRun::resume(request, guest, &plan)?)?.finish())
}

/// What came of one guest.
struct Attempt {
    ran: Result<(Description, Gathered), VmError>,
    /// What it was restored from; None if it was booted.
    snapshot: Option<Arc<Snapshot>>,
}

/// Runs the plan in one guest, which gets `extra` as well, from the last snapshot if it serves.
///
/// One with several CPUs goes on where it has booted: whose turn it is after it was restored may be
/// another each time.
fn attempt<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    (parcel, plan): (&Parcel, &Plan),
    last: Option<Arc<Snapshot>>,
    extra: Extra,
) -> Result<Attempt, VmError> {
    if request.settings.cpus > 1 {
        let (guest, about) = boot_whole::<G>(host, request, request.settings, parcel, extra)?;
        let ran = AgentRun::resume(request, guest, plan).and_then(run_all);
        return Ok(Attempt { ran: ran.map(|gathered| (about, gathered)), snapshot: None });
    }
    let snapshot = match last {
        Some(last) => last,
        None => Arc::new(snapshot::<G>(host, request, parcel)?),
    };
    let ran = go_on::<G>(host, request, (&snapshot, parcel), extra)
        .and_then(|(guest, about)| Ok((about, run_all(AgentRun::of(request, guest, plan))?)));
    Ok(Attempt { ran, snapshot: Some(snapshot) })
}

/// Executes this plan once, in a guest of another kind that boots with it: what came of each path,
/// in the order of the suite. Those that the plan leaves out have failed.
///
/// # Errors
/// What keeps the guest from being run.
pub fn boot_plan<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    plan: &Plan,
) -> Result<Vec<PathOutcome>, VmError> {
    Ok(run_all(boot_run::<G>(host, request, plan)?)?.finish())
}

/// Executes the same up to the first outcomes of all these paths.
///
/// # Errors
/// What keeps the guest from being run.
pub fn boot_paths<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    (plan, paths): (&Plan, &[usize]),
) -> Result<(), VmError> {
    let mut run = boot_run::<G>(host, request, plan)?;
    while !paths.iter().all(|path| run.has_run(*path)) && run.hear()? != AgentEvent::Done {}
    Ok(())
}

/// Boots a guest with this plan, and lets it go on from READY.
fn boot_run<'a, G: Guest>(
    host: &G::Host,
    request: &'a Request<'a>,
    plan: &Plan,
) -> Result<AgentRun<'a, G>, VmError> {
    let parcel = request.parcel_of(plan);
    let extra = Extra::default();
    let (guest, _) = boot_whole::<G>(host, request, request.settings, &parcel, extra)?;
    AgentRun::resume(request, guest, plan)
}

/// Hears the agent until it is done.
fn run_all<G: Guest>(mut run: AgentRun<'_, G>) -> Result<Gathered, VmError> {
    while run.hear()? != AgentEvent::Done {}
    Ok(run.into_gathered())
}

#[cfg(test)]
mod tests;
