//! Paths, recorded: the guest is restored once more, with the recorder plugin, and does its
//! perturbed runs as it did when it was measured, up to the last of the wanted executions.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::thread::Builder;

use pathmeter_probes::{Suite, WARMUP};
use pathmeter_wire::{
    Kind, message,
    message::SYMBOLS_ASKED,
    plan::{Execution, Plan},
};

use crate::{
    Parcel, PathOutcome, Progress, RecordingLimits, Request, VmError,
    arch::READBACK,
    cache::Sought,
    cache::entry::{Entry, EntryKind, Key},
    error::{GuestCause, Step},
    guest::channels::QemuGuest,
    guest::{Extra, Guest},
    machine::fd,
    machine::initramfs::{agent_sha256, may_lose},
    qemu::alarm::Alarm,
    qemu::memory_file::memory_file,
    qemu::plugin::Plugin,
    run::agent_run::{AgentEvent, AgentRun},
    run::outcome::Gathered,
    run::ready::{go_on, snapshot},
    run::request::path_name,
    run::snapshot::Snapshot,
};

/// What came of recording a path.
#[derive(Debug)]
pub struct Recorded<R> {
    /// What the reader of the trace made of it.
    pub trace: R,
    /// What came of the path in the run that was recorded, and of no other: its samples by the
    /// guest's own clock.
    pub outcome: PathOutcome,
}

/// What is recorded, and for whom.
struct Job<'a, F> {
    plan: Plan,
    limits: RecordingLimits,
    plugin: &'a File,
    /// Of paths of [`Suite::Exact`], in the order in which the plan has them.
    executions: Vec<Execution>,
    read: &'a F,
}

impl<F> Job<'_, F> {
    /// What the guest does while each execution is recorded.
    fn steps(&self) -> Vec<Step> {
        let step = |&Execution { path, .. }: &Execution| {
            let name = path_name(Suite::Exact, path).to_owned();
            Step::Path { index: path, name }
        };
        self.executions.iter().map(step).collect()
    }
}

/// Records executions of paths of `plan`, which is one of [`Suite::Exact`], all in one guest: what
/// came of each, in the order of `wanted`, where each stands once.
///
/// `read` is handed each execution's trace as it comes, on a thread of its own; it should read to
/// the end, and what it returns is handed back. A path that kills the kernel is left out, as when
/// the kernel is measured, and so is one of which no window ends within `limits`; then the others
/// are recorded, and read, anew.
///
/// # Errors
/// For all paths, what stands in the way of all; for one, that the kernel died in it, or that it is
/// beyond the limits.
pub fn record<R: Send, F: Fn(Execution, File) -> R + Sync>(
    request: &Request<'_>,
    plan: &Plan,
    wanted: &[Execution],
    limits: RecordingLimits,
    read: F,
) -> Result<Vec<Result<Recorded<R>, VmError>>, VmError> {
    let plugin = Plugin::Recorder.for_qemu(request.qemu, request.interrupt)?;
    record_in::<QemuGuest, R, F>(request.qemu, request, &plugin, (plan, wanted), limits, read)
}

fn record_in<G: Guest, R: Send, F: Fn(Execution, File) -> R + Sync>(
    host: &G::Host,
    request: &Request<'_>,
    plugin: &File,
    (plan, wanted): (&Plan, &[Execution]),
    limits: RecordingLimits,
    read: F,
) -> Result<Vec<Result<Recorded<R>, VmError>>, VmError> {
    let mut plan = plan.clone();
    let mut lost: HashMap<usize, VmError> = HashMap::new();
    loop {
        let is_wanted = |one: &Execution| wanted.contains(one) && !lost.contains_key(&one.path);
        let executions = plan.order().filter(is_wanted).collect();
        let job = Job { plan: plan.clone(), limits, plugin, executions, read: &read };
        match record_once::<G, R, F>(host, request, &job) {
            Ok(mut recorded) => {
                let one = |one: &Execution| match recorded.iter().position(|(it, _)| it == one) {
                    Some(place) => Ok(recorded.swap_remove(place).1),
                    None => Err(lost.remove(&one.path).unwrap_or(VmError::Interrupted)),
                };
                return Ok(wanted.iter().map(one).collect());
            }
            Err(error) => match error.in_path() {
                Some(index) if may_lose(&plan, lost.len(), index) => {
                    let note = format!("{error}; recording without it");
                    (request.progress)(Progress::Note(&note));
                    plan = plan.without(index);
                    lost.insert(index, error);
                }
                _ => return Err(error),
            },
        }
        if wanted.iter().all(|one| lost.contains_key(&one.path)) {
            let error = |one: &Execution| lost.remove(&one.path).unwrap_or(VmError::Interrupted);
            return Ok(wanted.iter().map(error).map(Err).collect());
        }
    }
}

fn record_once<G: Guest, R: Send, F: Fn(Execution, File) -> R + Sync>(
    host: &G::Host,
    request: &Request<'_>,
    job: &Job<'_, F>,
) -> Result<Vec<(Execution, Recorded<R>)>, VmError> {
    let parcel = request.parcel_of(&job.plan);
    let snapshot = snapshot::<G>(host, request, &parcel)?;
    let (extra, traces) = extra(request, job)?;
    std::thread::scope(|scope| {
        let executions = job.executions.iter().zip(traces);
        let reader = |(execution, trace): (&Execution, File)| {
            let (execution, read) = (*execution, job.read);
            let reader = Builder::new().spawn_scoped(scope, move || read(execution, trace));
            reader.map(|reader| (execution, reader))
        };
        let readers = match executions.map(reader).collect::<std::io::Result<Vec<_>>>() {
            Ok(readers) => readers,
            Err(source) => {
                // Those that there are end when nobody can write to their pipes any more.
                drop(extra);
                return Err(VmError::Host { what: "starting a thread for each trace", source });
            }
        };
        let gathered = run_once::<G, F>(host, request, (&snapshot, &parcel), job, extra);
        // The guest is gone, and with it the pipes' other ends: the readers come to an end.
        let traces = readers.into_iter().map(|(execution, reader)| {
            (execution, reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let traces: Vec<_> = traces.collect();
        let gathered = gathered?;
        let recorded = traces.into_iter().filter_map(|(execution, trace)| {
            let outcome = gathered.outcome_of(execution)?;
            Some((execution, Recorded { trace, outcome }))
        });
        Ok(recorded.collect())
    })
}

/// What QEMU is given for the recorder, and the reading end of the pipe for each trace.
fn extra<F>(request: &Request<'_>, job: &Job<'_, F>) -> Result<(Extra, Vec<File>), VmError> {
    let plugin = job
        .plugin
        .try_clone()
        .map_err(|source| VmError::Host { what: "handing the recorder to QEMU", source })?;
    let mut files = vec![(fd::PLUGIN, OwnedFd::from(plugin))];
    let mut traces = Vec::new();
    for number in (fd::TRACE..).take(job.executions.len()) {
        let pipe = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
        let (trace, writer) = pipe.map_err(|error| VmError::Host {
            what: "making a pipe for the trace",
            source: error.into(),
        })?;
        files.push((number, writer));
        traces.push(File::from(trace));
    }
    files.push((fd::POINTS, OwnedFd::from(memory_file("pathmeter-points", request.points)?)));
    let (alarm, recorder) = Alarm::new(job.steps(), job.limits)?;
    files.push((fd::ALARM, recorder));
    let arguments = plugin_arguments(job);
    Ok((Extra { files, arguments, alarm: Some(alarm), ..Extra::default() }, traces))
}

/// Blames the recorder if QEMU ended at its start or while it restored: without the recorder, it
/// restores the same snapshot.
fn to_recorder_error(error: VmError) -> VmError {
    match error {
        VmError::Guest {
            step: Step::Start | Step::Restore,
            cause: GuestCause::Ended { by_guest: false, how },
            ..
        } => VmError::Recorder { how },
        other => other,
    }
}

/// Runs a guest until all wanted executions are done; what came of all.
fn run_once<G: Guest, F>(
    host: &G::Host,
    request: &Request<'_>,
    from: (&Snapshot, &Parcel),
    job: &Job<'_, F>,
    extra: Extra,
) -> Result<Gathered, VmError> {
    let (guest, _) = go_on::<G>(host, request, from, extra).map_err(to_recorder_error)?;
    let mut run = AgentRun::of(request, guest, &job.plan);
    while !matches!(run.hear()?, AgentEvent::Done)
        && !job.executions.iter().all(|one| run.has_done(*one))
    {}
    Ok(run.into_gathered())
}

fn plugin_arguments<F>(job: &Job<'_, F>) -> Vec<String> {
    let RecordingLimits { skip, warm, windows, bytes, most } = job.limits;
    let file = format!("/proc/self/fd/{}", fd::PLUGIN);
    let (points, alarm) = (fd::POINTS, fd::ALARM);
    let mut plugin =
        format!("{file},points={points},skip={skip},bytes={bytes},most={most},alarm={alarm}");
    for (&Execution { run, path }, number) in job.executions.iter().zip(fd::TRACE..) {
        let samples = Suite::Exact.paths().get(path).map_or(0, |path| path.kind.samples());
        // Windows of the warm-up that are not passed over are recorded, too.
        let own = u64::from(samples) + u64::from(WARMUP).saturating_sub(skip);
        let take = own.max(windows);
        // Writing to a String can't fail.
        let _ = write!(plugin, ",path={path},pass={run},fd={number},take={take},warm={warm}");
    }
    vec!["-plugin".to_owned(), plugin]
}

/// The kernel's symbols as its `/proc/kallsyms` has them: from the cache, or from a guest of their
/// own. Empty if the kernel has none to give.
pub fn symbols(request: &Request<'_>) -> Result<Vec<u8>, VmError> {
    symbols_in::<QemuGuest>(request.qemu, request)
}

/// The same if the cache has them; no guest is started, and nobody else's is waited for.
pub fn cached_symbols(request: &Request<'_>) -> Option<Vec<u8>> {
    let caller = request.caller("asking the kernel again");
    request.cache?.find(&symbols_key(request), caller, |entry: Entry| entry.bytes(most_symbols()))
}

fn most_symbols() -> usize {
    usize::try_from(message::MAX_SYMBOLS).unwrap_or(usize::MAX)
}

fn symbols_key(request: &Request<'_>) -> Key {
    let parts = [
        ("pathmeter", env!("CARGO_PKG_VERSION")),
        ("agent_sha256", &agent_sha256()),
        ("image_sha256", &request.kernel.sha256[..]),
        ("qemu", &request.qemu.version),
        ("guest", &request.settings.fingerprint()),
    ];
    Key::new(EntryKind::Symbols, &parts)
}

fn symbols_in<G: Guest>(host: &G::Host, request: &Request<'_>) -> Result<Vec<u8>, VmError> {
    let Some(cache) = request.cache else { return fetch_symbols::<G>(host, request) };
    let caller = request.caller("asking the kernel again");
    let sought = cache.seek(symbols_key(request), caller, |entry| entry.bytes(most_symbols()))?;
    let slot = match sought {
        Sought::Found(bytes) => return Ok(bytes),
        Sought::Missing(slot) => slot,
    };
    let bytes = fetch_symbols::<G>(host, request)?;
    slot.keep(|entry| entry.write_all(&bytes));
    Ok(bytes)
}

/// Lets a guest go on from READY that is told to run no path: the kernel need not survive them all
/// to have symbols.
fn fetch_symbols<G: Guest>(host: &G::Host, request: &Request<'_>) -> Result<Vec<u8>, VmError> {
    let failed = |source| VmError::Host { what: "reading the kernel's symbols", source };
    let plan = Plan::new(Suite::Exact, request.runs);
    let mut file = memory_file("pathmeter-symbols", &[])?;
    let asking = || {
        let files = vec![(fd::MEMORY, OwnedFd::from(file.try_clone().map_err(failed)?))];
        let readback = format!("{READBACK}={SYMBOLS_ASKED}");
        let arguments = vec!["-global".to_owned(), readback];
        Ok(Extra { files, arguments, ..Extra::default() })
    };
    let parcel = request.parcel_of(&plan);
    let guest = restored::<G>(host, request, &parcel, &asking)?;
    let mut run = AgentRun::of(request, guest, &plan);
    while run.hear()? != AgentEvent::Done {}
    copy_symbols(&mut run.guest)?;
    drop(run);
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(failed)?;
    Ok(bytes)
}

/// A guest that has gone on from READY; each one that is started is given `extra`. A snapshot of
/// the cache that can't be restored is made again.
fn restored<G: Guest>(
    host: &G::Host,
    request: &Request<'_>,
    parcel: &Parcel,
    extra: &dyn Fn() -> Result<Extra, VmError>,
) -> Result<G, VmError> {
    loop {
        let snapshot = snapshot::<G>(host, request, parcel)?;
        match go_on(host, request, (&snapshot, parcel), extra()?) {
            Err(error) if error.unrestored().is_some() && snapshot.forget(request) => {}
            gone_on => return gone_on.map(|(guest, _)| guest),
        }
    }
}

/// Waits for the agent to say where the symbols are and to pause, and has QEMU copy them to
/// [`fd::MEMORY`], by virtual address as the agent sees it.
fn copy_symbols(guest: &mut impl Guest) -> Result<(), VmError> {
    let said = guest
        .next_frame(|frame| (frame.kind, message::read_memory(frame, message::MAX_SYMBOLS)))?;
    let (Kind::Symbols, Ok(memory)) = said else {
        let what = "something else than the symbols' place".to_owned();
        return Err(guest.failure(GuestCause::Protocol { what }));
    };
    if memory.length == 0 {
        return Ok(());
    }
    guest.await_pause()?;
    guest.copy_memory(memory)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::Cache;
    use crate::machine::Origin;
    use crate::run::fake::{At, FakeGuest, FakeHost, Fault, SYMBOLS, sample, with_request};

    type Traces = Vec<Result<Recorded<String>, VmError>>;

    fn record_texts(host: &Rc<FakeHost>, paths: &[usize]) -> Result<Traces, VmError> {
        let limits =
            RecordingLimits { skip: 1, warm: 0, windows: 0, bytes: 1 << 20, most: 1 << 20 };
        let plugin = memory_file("plugin", &[]).unwrap();
        let wanted: Vec<Execution> =
            paths.iter().map(|path| Execution { run: 0, path: *path }).collect();
        let read = |_: Execution, mut trace: File| {
            let mut text = String::new();
            trace.read_to_string(&mut text).unwrap();
            text
        };
        with_request(host, None, |request| {
            let plan = Plan::new(Suite::Exact, request.runs);
            record_in::<FakeGuest, _, _>(host, request, &plugin, (&plan, &wanted), limits, read)
        })
    }

    /// The trace is this path's, and so is the outcome, of one run.
    fn assert_whole(path: usize, recorded: &Result<Recorded<String>, VmError>) {
        let Recorded { trace, outcome } = recorded.as_ref().unwrap();
        assert_eq!(*trace, path.to_string());
        let windows = Suite::Exact.paths()[path].kind.samples() as usize;
        assert_eq!(outcome.runs, [vec![sample(path); windows]]);
    }

    fn panicked() -> GuestCause {
        let message = "Kernel panic - not syncing: oops".to_owned();
        GuestCause::Panicked { message, doubt: crate::arch::Doubt::None }
    }

    #[test]
    fn each_path_has_its_own_trace_in_the_order_asked_for() {
        let host = Rc::new(FakeHost::default());
        let traces = record_texts(&host, &[7, 2, 5]).unwrap();
        [7, 2, 5].into_iter().zip(&traces).for_each(|(path, trace)| assert_whole(path, trace));
        assert_eq!(host.origins().len(), 2);
    }

    #[test]
    fn a_path_that_dies_before_it_is_left_out_and_moves_no_trace() {
        let host = FakeHost::dying_in(&[1], &panicked());
        let traces = record_texts(&host, &[7, 2]).unwrap();
        [7, 2].into_iter().zip(&traces).for_each(|(path, trace)| assert_whole(path, trace));
        assert_eq!((host.origins().len(), host.notes.borrow().len()), (4, 1));
        assert!(host.started.borrow()[3].1.as_ref().unwrap().skips(1));
    }

    #[test]
    fn a_path_that_dies_after_them_does_not_matter() {
        let host = FakeHost::dying_in(&[3], &panicked());
        assert_whole(2, &record_texts(&host, &[2]).unwrap()[0]);
        assert_eq!(host.origins().len(), 2);
    }

    #[test]
    fn a_wanted_path_that_dies_is_its_own_error_and_the_others_are_recorded() {
        let host = FakeHost::dying_in(&[2], &panicked());
        let traces = record_texts(&host, &[2, 7]).unwrap();
        assert_eq!(traces[0].as_ref().unwrap_err().in_path(), Some(2));
        assert_whole(7, &traces[1]);
        let host = FakeHost::dying_in(&[2, 7], &panicked());
        let traces = record_texts(&host, &[7, 2]).unwrap();
        let died = traces.iter().map(|trace| trace.as_ref().unwrap_err().in_path());
        assert_eq!(died.collect::<Vec<_>>(), [Some(7), Some(2)]);
        assert_eq!(host.origins().len(), 4);
    }

    #[test]
    fn a_path_beyond_the_limits_is_its_own_error_and_the_others_are_recorded() {
        let overlong = GuestCause::Overlong { why: "a window did not end".to_owned() };
        let host = FakeHost::dying_in(&[2], &overlong);
        let traces = record_texts(&host, &[2, 7]).unwrap();
        assert!(traces[0].as_ref().unwrap_err().to_string().ends_with("a window did not end"));
        assert_whole(7, &traces[1]);
    }

    #[test]
    fn what_is_no_paths_fault_is_an_error_for_all() {
        let host = FakeHost::with_fault(At::Before(1), Fault::Dies(panicked()));
        let error = record_texts(&host, &[2]).unwrap_err();
        assert!(matches!(error, VmError::Guest { step: Step::Run, .. }), "{error}");
        let host = FakeHost::dying_in(&[0, 1, 2, 3, 4], &panicked());
        assert_eq!(record_texts(&host, &[7]).unwrap_err().in_path(), Some(4));
    }

    #[test]
    fn symbols_come_from_the_snapshot_that_will_be_measured_so_a_kernel_boots_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().to_owned()).unwrap();
        let host = FakeHost::dying_in(&[0, 1, 2], &panicked());
        let read_symbols = || {
            with_request(&host, Some(&cache), |request| symbols_in::<FakeGuest>(&host, request))
                .unwrap()
        };
        assert_eq!((read_symbols(), read_symbols()), (SYMBOLS.to_vec(), SYMBOLS.to_vec()));
        assert_eq!(host.origins(), [Origin::Boot, Origin::Snapshot]);
        with_request(&host, Some(&cache), |request| {
            let parcel = request.parcel_of(&Plan::new(Suite::Exact, request.runs));
            snapshot::<FakeGuest>(&host, request, &parcel).unwrap();
        });
        assert_eq!(host.origins(), [Origin::Boot, Origin::Snapshot]);
    }

    #[test]
    fn symbols_come_from_a_boot_if_the_snapshot_cant_be_restored() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().to_owned()).unwrap();
        let host = Rc::new(FakeHost::default());
        with_request(&host, Some(&cache), |request| {
            let parcel = request.parcel_of(&Plan::new(Suite::Exact, request.runs));
            snapshot::<FakeGuest>(&host, request, &parcel).unwrap();
            host.unrestorable.set(1);
            assert_eq!(symbols_in::<FakeGuest>(&host, request).unwrap(), SYMBOLS);
        });
        let (boot, restored) = (Origin::Boot, Origin::Snapshot);
        assert_eq!(host.origins(), [boot, restored, boot, restored]);
    }

    #[test]
    fn a_qemu_that_ends_only_with_the_recorder_does_not_take_it() {
        let host = Rc::new(FakeHost::default());
        host.unrestorable.set(1);
        assert!(matches!(record_texts(&host, &[2]), Err(VmError::Recorder { .. })));
        assert_eq!(host.origins().len(), 2);
    }
}
